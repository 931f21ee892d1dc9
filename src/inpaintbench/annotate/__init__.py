"""Labels and judgements of people: the study, the browser app, the journal, and the statistics that turn votes into rows.

study.toml --prepare--> STUDY/study.json + proxies --serve--> journal --resolve--> attributes, scores, answers
"""
