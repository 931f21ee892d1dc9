"use strict";
// Plots whose data the reader chooses: a Vega-Lite chart over named rows, drawn as SVG in the page's colours.

// As wide as its place, but never narrower than `least`, where names would run into each other: then it scrolls.
page.fitted = (place, chart, least = 560) => ({ ...chart, width: Math.max(least, place.clientWidth), autosize: { type: "fit-x", contains: "padding" } });

page.draw = async (place, chart, rows) => {
  // `ast` interprets expressions instead of building functions from text, which the page's policy forbids.
  // Of messages only errors (level 1): an empty layer is no cause for a warning.
  const made = await window.vegaEmbed(place, { ...chart, datasets: { rows } }, { ast: true, actions: false, renderer: "svg", tooltip: false, logLevel: 1 });
  // An empty layer would be a picture without a name to a screen reader.
  for (const layer of place.querySelectorAll("[role=graphics-symbol]:not([aria-label])")) for (const name of ["role", "aria-roledescription"]) layer.removeAttribute(name);
  return made.view;
};
