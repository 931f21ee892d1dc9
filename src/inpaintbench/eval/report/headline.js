"use strict";
// The clips of the finding on top of the page: they play the videos of the gallery, cut to one method, while they are in view.
(() => {
  for (const figure of document.querySelectorAll(".proof")) {
    const video = figure.querySelector("video");
    video.setAttribute("src", document.getElementById(figure.dataset.of).querySelector("video").getAttribute("src"));
    const player = new page.Player(figure, () => figure.classList.toggle("playing", !video.paused), () => {});
    const [canvas] = figure.querySelectorAll("canvas");
    figure.addEventListener("click", () => player.toggle());
    let left = page.still;
    new IntersectionObserver(([entry]) => {
      if (!entry.isIntersecting) return video.pause();
      if (!video.getAttribute("src")) player.open();
      if (!left) player.toggle();
      left = left || video.paused;
    }).observe(canvas);
  }
})();
