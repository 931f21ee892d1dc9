"""From a study file to a study that can be served: subjects, candidates, tasks, proxies."""
