// The region that is shown: it stands in the address, and goes along to the pages of other slices.
(() => {
  const inputs = [...document.querySelectorAll('input[name="region"]')];
  if (inputs.length) page.keepInputs(inputs, (changed) => {
    const { value: region, defaultChecked, parentElement } = inputs.find((input) => input.checked);
    for (const part of document.querySelectorAll("[data-region]")) part.hidden = part.dataset.region !== region;
    for (const link of document.querySelectorAll("a[data-keeps], .matrix thead a")) link.setAttribute("href", link.getAttribute("href").split("#")[0] + (defaultChecked ? "" : `#region=${region}`));
    if (changed) page.announce(`Region: ${parentElement.textContent.trim()}`);
  });
})();
