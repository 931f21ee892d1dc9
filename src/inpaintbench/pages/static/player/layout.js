/* Where players stand: the largest candidates that fit, with references as large as the rest of the room allows. */

const RATIOS = [1, 0.8, 0.65, 0.55, 0.5, 0.45, 0.4, 0.33, 0.25];
const SIDE_BY_SIDE = 1.3;
const REFERENCES_COUNT = 0.35;
const LARGEST_ENLARGEMENT = 2.5;
/* References narrower than this tell little, CSS pixels. */
const READABLE = 240;
const TOO_NARROW = 0.9;

/**
 * Rectangles of `candidates` and then `references` players of `aspect` (width / height) in a box, CSS pixels; rows hold multiples of `group`.
 * `caption` is added to the height of each. `natural` is the width of a player's picture in its own pixels.
 */
export function fit({ width, height, aspect, candidates, references, gap, caption, natural, group = 1 }) {
  let best = null;
  for (let columns = Math.min(group, candidates); columns <= candidates; columns += group) {
    for (const ratio of references ? RATIOS : [0]) {
      for (const place of references ? ["below", "beside"] : ["alone"]) {
        const plan = { columns, ratio, place, candidates, references, aspect, gap, caption };
        const size = Math.min(largest(plan, width, height), natural * LARGEST_ENLARGEMENT);
        if (size < 24) continue;
        const area = size * size * (candidates + REFERENCES_COUNT * references * ratio * ratio);
        const share = references ? (size * ratio) / READABLE : 1;
        const readable = share < 1 ? share * TOO_NARROW : 1;
        const score = area * readable * (columns === candidates && width > height ? SIDE_BY_SIDE : 1);
        if (!best || score > best.score) best = { ...plan, size, score };
      }
    }
  }
  return best ? placed(best, width, height) : [];
}

/** The largest width of a candidate. */
function largest({ columns, ratio, place, candidates, references, aspect, gap, caption }, width, height) {
  const rows = Math.ceil(candidates / columns);
  const across = width - (columns - 1) * gap;
  const down = height - rows * caption - (rows - 1) * gap;
  if (place === "alone") return Math.min(across / columns, (down * aspect) / rows);
  if (place === "below") {
    return Math.min(
      across / columns,
      (width - (references - 1) * gap) / (references * ratio),
      ((down - gap - caption) * aspect) / (rows + ratio),
    );
  }
  return Math.min(
    (across - gap) / (columns + ratio),
    (down * aspect) / rows,
    ((height - references * caption - (references - 1) * gap) * aspect) / (references * ratio),
  );
}

function placed({ columns, ratio, place, candidates, references, aspect, gap, caption, size }, width, height) {
  const beside = place === "beside";
  const [tall, small] = [size / aspect + caption, size * ratio];
  const short = small / aspect + caption;
  const span = (count, each) => count * each + (count - 1) * gap;
  const block = [span(columns, size), span(Math.ceil(candidates / columns), tall)];
  const others = beside ? [small, span(references, short)] : [span(references, small), short];
  // Along one axis they follow each other; across it each is in the middle.
  const long = (axis) => block[axis] + (place !== "alone" && beside === (axis === 0) ? gap + others[axis] : 0);
  const [left, top] = [(width - long(0)) / 2, (height - long(1)) / 2];
  const rectangles = [];
  for (let index = 0; index < candidates; index += 1) {
    const at = Math.floor(index / columns);
    const indent = ((columns - Math.min(columns, candidates - at * columns)) * (size + gap)) / 2;
    rectangles.push(rectangle(left + indent + (index % columns) * (size + gap), top + at * (tall + gap), size, tall));
  }
  for (let index = 0; index < references; index += 1) {
    const x = beside ? left + block[0] + gap : (width - others[0]) / 2 + index * (small + gap);
    const y = beside ? (height - others[1]) / 2 + index * (short + gap) : top + block[1] + gap;
    rectangles.push(rectangle(x, y, small, short));
  }
  return rectangles;
}

const rectangle = (x, y, width, height) => ({ x: Math.round(x), y: Math.round(y), width: Math.floor(width), height: Math.floor(height) });
