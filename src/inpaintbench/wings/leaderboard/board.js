// The region that is shown: it stands in the address, and goes along to the pages of other slices.
(() => {
  const inputs = [...document.querySelectorAll('input[name="region"]')];
  if (!inputs.length) return;
  const regions = inputs.map((input) => input.value);

  function show() {
    const region = regions.includes(page.get("region")) ? page.get("region") : regions[0];
    for (const part of document.querySelectorAll("[data-region]")) part.hidden = part.dataset.region !== region;
    for (const input of inputs) input.checked = input.value === region;
    for (const link of document.querySelectorAll("a[data-keeps], .matrix thead a")) link.setAttribute("href", link.getAttribute("href").split("#")[0] + (region === regions[0] ? "" : `#region=${region}`));
  }

  document.addEventListener("change", (event) => {
    if (!inputs.includes(event.target)) return;
    page.set({ region: event.target.value === regions[0] ? null : event.target.value });
    show();
    page.announce(`Region: ${event.target.parentElement.textContent.trim()}`);
  });
  page.on("state", show);
  show();
})();
