/* Pictures of players: parts of the stage, zoomed, swapped, wiped, with the hole's outline. */

const NEAREST_FROM = 4;
const LINE_COLOUR = "#ffd21f";
const HALO = [[0, 0], [-2, 0], [2, 0], [0, -2], [0, 2], [-1, -1], [1, 1], [-1, 1], [1, -1]];

/**
 * Draw a tile of the stage over the whole of a canvas.
 * `zoom`: {factor, x, y}, the window's place between 0 and 1. `over`: {tile, at}, another tile right of the line `at` (0 to 1).
 */
export function drawTile(canvas, stage, tile, { zoom, over = null, outline = null }) {
  const pen = canvas.getContext("2d", { alpha: false });
  pen.imageSmoothingEnabled = zoom.factor < NEAREST_FROM;
  pen.imageSmoothingQuality = "medium";
  pen.globalCompositeOperation = "source-over";
  blit(pen, canvas, stage, seen(tile, zoom), 0);
  if (over) blit(pen, canvas, stage, seen(over.tile, zoom), over.at);
  if (outline) {
    const window = seen({ ...outline.tile, x: 0, y: 0 }, zoom);
    pen.globalCompositeOperation = "multiply";
    blit(pen, canvas, outline.halo, window, 0);
    pen.globalCompositeOperation = "screen";
    blit(pen, canvas, outline.line, window, 0);
    pen.globalCompositeOperation = "source-over";
  }
  if (over) rule(pen, canvas, over.at);
}

/** The part of a tile inside the zoomed window. */
export function seen(tile, { factor, x, y }) {
  const width = tile.width / factor;
  const height = tile.height / factor;
  return { x: tile.x + x * (tile.width - width), y: tile.y + y * (tile.height - height), width, height };
}

function blit(pen, canvas, source, window, from) {
  pen.drawImage(
    source,
    window.x + from * window.width, window.y, Math.max((1 - from) * window.width, 0.01), window.height,
    from * canvas.width, 0, (1 - from) * canvas.width, canvas.height,
  );
}

function rule(pen, canvas, at) {
  const width = Math.max(2, Math.round(canvas.width / 400));
  const x = Math.round(at * canvas.width);
  pen.fillStyle = "rgba(0, 0, 0, 0.55)";
  pen.fillRect(x - width, 0, 2 * width, canvas.height);
  pen.fillStyle = "#fff";
  pen.fillRect(x - width / 2, 0, width, canvas.height);
}

/** White lines on black become a coloured line with a dark rim, to be seen on any picture. */
export class Outline {
  constructor(tile) {
    this.tile = tile;
    [this.raw, this.halo, this.line] = [0, 1, 2].map(() => buffer(tile.width, tile.height));
  }

  update(stage) {
    const { width, height } = this.tile;
    const raw = this.raw.getContext("2d", { alpha: false });
    raw.fillStyle = "#fff";
    raw.globalCompositeOperation = "source-over";
    raw.drawImage(stage, this.tile.x, this.tile.y, width, height, 0, 0, width, height);
    raw.globalCompositeOperation = "difference";
    raw.fillRect(0, 0, width, height);

    const halo = this.halo.getContext("2d", { alpha: false });
    halo.globalCompositeOperation = "source-over";
    halo.fillStyle = "#fff";
    halo.fillRect(0, 0, width, height);
    halo.globalCompositeOperation = "multiply";
    for (const [x, y] of HALO) halo.drawImage(this.raw, x, y);

    const line = this.line.getContext("2d", { alpha: false });
    line.globalCompositeOperation = "source-over";
    line.drawImage(stage, this.tile.x, this.tile.y, width, height, 0, 0, width, height);
    line.globalCompositeOperation = "multiply";
    line.fillStyle = LINE_COLOUR;
    line.fillRect(0, 0, width, height);
  }
}

/** A picture to draw on that is in no page. */
export function buffer(width, height) {
  if (typeof OffscreenCanvas === "function") return new OffscreenCanvas(width, height);
  return Object.assign(document.createElement("canvas"), { width, height });
}
