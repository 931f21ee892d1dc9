/* Pictures of players: parts of the stage, zoomed, swapped, wiped, with the hole's outline. */

const NEAREST_FROM = 4;
const LINE_COLOUR = "#ffd21f";
const HALO = [[0, 0], [-2, 0], [2, 0], [0, -2], [0, 2], [-1, -1], [1, 1], [-1, 1], [1, -1]];

/**
 * Draw a tile of the stage over the whole of a canvas.
 * `zoom`: {factor, x, y}, the window's place between 0 and 1. `over`: {tile, at}, another tile right of the line `at` (0 to 1).
 * `less`: a tile from which the difference is drawn, four times as strong.
 */
export function drawTile(canvas, stage, tile, { zoom, over = null, outline = null, less = null }) {
  const pen = canvas.getContext("2d", { alpha: false });
  pen.imageSmoothingEnabled = zoom.factor < NEAREST_FROM;
  pen.imageSmoothingQuality = "medium";
  pen.globalCompositeOperation = "source-over";
  blit(pen, canvas, stage, seen(tile, zoom), 0);
  if (over) blit(pen, canvas, stage, seen(over.tile, zoom), over.at);
  if (less) {
    pen.globalCompositeOperation = "difference";
    blit(pen, canvas, stage, seen(less, zoom), 0);
    pen.globalCompositeOperation = "lighter";
    for (let doubling = 0; doubling < 2; doubling += 1) pen.drawImage(canvas, 0, 0);
  }
  if (outline) {
    const window = seen({ ...outline.tile, x: 0, y: 0 }, zoom);
    pen.globalCompositeOperation = "multiply";
    blit(pen, canvas, outline.halo, window, 0);
    pen.globalCompositeOperation = "screen";
    blit(pen, canvas, outline.line, window, 0);
    pen.globalCompositeOperation = "source-over";
  }
  if (over) {
    const width = Math.max(2, Math.round(canvas.width / 400));
    const x = Math.round(over.at * canvas.width);
    pen.fillStyle = "rgba(0, 0, 0, 0.55)";
    pen.fillRect(x - width, 0, 2 * width, canvas.height);
    pen.fillStyle = "#fff";
    pen.fillRect(x - width / 2, 0, width, canvas.height);
  }
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

/** White lines on black become a coloured line with a dark rim, to be seen on any picture. */
export class Outline {
  constructor(tile) {
    this.tile = tile;
    [this.raw, this.halo, this.line] = [0, 1, 2].map(() => buffer(tile.width, tile.height));
  }

  update(stage) {
    const [raw, halo, line] = [this.raw, this.halo, this.line].map((one) => one.getContext("2d", { alpha: false }));
    copy(raw, "source-over", stage, this.tile);
    flood(raw, "difference", "#fff");
    flood(halo, "source-over", "#fff");
    halo.globalCompositeOperation = "multiply";
    for (const [x, y] of HALO) halo.drawImage(this.raw, x, y);
    copy(line, "source-over", stage, this.tile);
    flood(line, "multiply", LINE_COLOUR);
  }
}

/** Lays patches over the original: of `tiles` that show nothing outside the mask, on a sheet that saves its bytes for what differs. */
export class Patches {
  /** Tiles of one size; the mask is white where patches are seen. */
  constructor({ mask, original, tiles }) {
    Object.assign(this, { mask, original, tiles });
    this.around = buffer(mask.width, mask.height);
  }

  lay(stage) {
    // The original, black inside the mask.
    const around = this.around.getContext("2d", { alpha: false });
    flood(around, "source-over", "#fff");
    copy(around, "difference", stage, this.mask);
    copy(around, "multiply", stage, this.original);
    const pen = stage.getContext("2d");
    for (const tile of this.tiles) {
      copy(pen, "multiply", stage, this.mask, tile);
      pen.globalCompositeOperation = "lighter";
      pen.drawImage(this.around, tile.x, tile.y);
    }
    pen.globalCompositeOperation = "source-over";
  }
}

/** Draw a tile of the stage to a place, by default the beginning. */
function copy(pen, mode, stage, { x, y, width, height }, to = { x: 0, y: 0 }) {
  pen.globalCompositeOperation = mode;
  pen.drawImage(stage, x, y, width, height, to.x, to.y, width, height);
}

function flood(pen, mode, colour) {
  pen.globalCompositeOperation = mode;
  pen.fillStyle = colour;
  pen.fillRect(0, 0, pen.canvas.width, pen.canvas.height);
}

/** A picture to draw on that is in no page. */
export function buffer(width, height) {
  if (typeof OffscreenCanvas === "function") return new OffscreenCanvas(width, height);
  return Object.assign(document.createElement("canvas"), { width, height });
}
