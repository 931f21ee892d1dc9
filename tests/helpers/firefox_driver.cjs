/* Playwright drives a Firefox as it is released over WebDriver BiDi, and asks it for one command that the release does not know
 * yet: the colour scheme of a new context. Ask for the state of the session in its place, which changes nothing. */
const { prototype } = module.constructor;
const compile = prototype._compile;
prototype._compile = function (text, name, ...more) {
  const known = name.endsWith("coreBundle.js") ? text.replaceAll("emulation.setMediaFeaturesOverride", "session.status") : text;
  return compile.call(this, known, name, ...more);
};
