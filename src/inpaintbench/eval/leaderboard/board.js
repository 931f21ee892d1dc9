"use strict";
// Choice of region and sorting. The pages read well without it: then they show every region.
(() => {
  document.documentElement.classList.add("js");
  const told = document.getElementById("told");
  const chooser = document.querySelector(".regions");
  const regions = chooser ? [...chooser.querySelectorAll("input")].map((input) => input.value) : [];

  function show(region) {
    for (const panel of document.querySelectorAll(".panel[data-region]")) panel.hidden = panel.dataset.region !== region;
    for (const input of chooser.querySelectorAll("input")) input.checked = input.value === region;
    for (const link of document.querySelectorAll("a.slice, .matrix thead a")) {
      link.setAttribute("href", `${link.getAttribute("href").split("#")[0]}#region=${region}`);
    }
  }

  function fromAddress() {
    const wished = new URLSearchParams(location.hash.slice(1)).get("region");
    if (regions.includes(wished)) show(wished);
  }

  if (chooser) {
    show(regions[0]);
    fromAddress();
    window.addEventListener("hashchange", fromAddress);
    chooser.addEventListener("change", (event) => {
      show(event.target.value);
      history.replaceState(null, "", `#region=${event.target.value}`);
      told.textContent = `Region: ${event.target.parentElement.textContent.trim()}`;
    });
  }

  function value(row, column) {
    const text = row.cells[column].dataset.value;
    return text === undefined ? null : text === "inf" ? Infinity : Number(text);
  }

  function sort(button) {
    const head = button.closest("th");
    const body = button.closest("table").tBodies[0];
    const column = head.cellIndex;
    const before = head.getAttribute("aria-sort");
    const falling = before === "none" ? head.dataset.first === "descending" : before === "ascending";
    for (const other of head.parentElement.cells) if (other.hasAttribute("aria-sort")) other.setAttribute("aria-sort", "none");
    head.setAttribute("aria-sort", falling ? "descending" : "ascending");
    body.original ??= [...body.rows];
    const known = body.original.filter((row) => value(row, column) !== null);
    // Two infinite values have no difference.
    const compare = (one, other) => (one === other ? 0 : one < other ? -1 : 1);
    known.sort((one, other) => (falling ? -1 : 1) * compare(value(one, column), value(other, column)));
    body.append(...known, ...body.original.filter((row) => value(row, column) === null));
    told.textContent = `Sorted by ${button.textContent.trim()}, ${falling ? "largest" : "smallest"} first`;
  }

  for (const button of document.querySelectorAll("button.sort")) button.addEventListener("click", () => sort(button));
})();
