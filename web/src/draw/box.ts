// Rectangles in pixels; y grows downwards.

export interface Box {
  x: number;
  y: number;
  width: number;
  height: number;
}

export const contains = (box: Box, x: number, y: number): boolean =>
  x >= box.x && x < box.x + box.width && y >= box.y && y < box.y + box.height;

/** The box without a margin at each side and a head at its top; never of negative size. */
export function inset(box: Box, margin: number, head = 0): Box {
  const width = Math.max(0, box.width - 2 * margin);
  const height = Math.max(0, box.height - 2 * margin - head);
  return { x: box.x + Math.min(margin, box.width / 2), y: box.y + Math.min(margin + head, box.height), width, height };
}
