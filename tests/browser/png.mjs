// Compresses a PNG without loss: a palette if there are few colors, the best filter for each row, and the highest
// level of deflate. https://www.w3.org/TR/png-3/
import { crc32, deflateSync, inflateSync } from "node:zlib";

/** Returns a smaller PNG of the same picture. The input has 8 bits a channel and is not interlaced. */
export function smaller(png) {
  const { width, height, channels, pixels } = decoded(png);
  const colors = palette(pixels, channels);
  if (colors.size <= 256) return indexed(width, height, channels, pixels, colors);
  const rgb = Buffer.alloc(width * height * 3);
  for (let at = 0; at < width * height; at++) pixels.copy(rgb, at * 3, at * channels, at * channels + 3);
  return encoded(width, height, 2, 3, rgb, []);
}

function decoded(png) {
  const parts = [];
  let width, height, type;
  for (let at = 8; at < png.length;) {
    const length = png.readUInt32BE(at);
    const name = png.toString("latin1", at + 4, at + 8);
    const body = png.subarray(at + 8, at + 8 + length);
    if (name === "IHDR") {
      [width, height, type] = [body.readUInt32BE(0), body.readUInt32BE(4), body[9]];
      if (body[8] !== 8 || ![2, 6].includes(type) || body[12] !== 0) throw new Error("unsupported PNG");
    }
    if (name === "IDAT") parts.push(body);
    at += length + 12;
  }
  const channels = type === 6 ? 4 : 3;
  const row = width * channels;
  const data = inflateSync(Buffer.concat(parts));
  const pixels = Buffer.alloc(row * height);
  for (let y = 0; y < height; y++) {
    const filter = data[y * (row + 1)];
    for (let x = 0; x < row; x++) {
      const value = data[y * (row + 1) + 1 + x];
      pixels[y * row + x] = value + predicted(filter, pixels, y, x, row, channels);
    }
  }
  return { width, height, channels, pixels };
}

/** The prediction of a byte by a PNG filter, from the bytes to the left and above. */
function predicted(filter, pixels, y, x, row, channels) {
  if (filter === 0) return 0;
  const left = x >= channels ? pixels[y * row + x - channels] : 0;
  const up = y > 0 ? pixels[(y - 1) * row + x] : 0;
  if (filter === 1) return left;
  if (filter === 2) return up;
  if (filter === 3) return (left + up) >> 1;
  const corner = x >= channels && y > 0 ? pixels[(y - 1) * row + x - channels] : 0;
  const [a, b, c] = [Math.abs(up - corner), Math.abs(left - corner), Math.abs(left + up - 2 * corner)];
  return a <= b && a <= c ? left : b <= c ? up : corner;
}

function palette(pixels, channels) {
  const colors = new Map();
  for (let at = 0; at < pixels.length && colors.size <= 256; at += channels) {
    const color = pixels.readUIntBE(at, 3);
    if (!colors.has(color)) colors.set(color, colors.size);
  }
  return colors;
}

function indexed(width, height, channels, pixels, colors) {
  const indices = Buffer.alloc(width * height);
  for (let at = 0; at < indices.length; at++) indices[at] = colors.get(pixels.readUIntBE(at * channels, 3));
  const table = Buffer.alloc(colors.size * 3);
  for (const [color, at] of colors) table.writeUIntBE(color, at * 3, 3);
  return encoded(width, height, 3, 1, indices, [["PLTE", table]]);
}

function encoded(width, height, type, channels, pixels, chunks) {
  const row = width * channels;
  const best = [];
  const plain = [];
  for (let y = 0; y < height; y++) {
    const rows = [0, 1, 2, 3, 4].map((filter) => {
      const out = Buffer.alloc(row + 1);
      out[0] = filter;
      for (let x = 0; x < row; x++) {
        out[x + 1] = pixels[y * row + x] - predicted(filter, pixels, y, x, row, channels);
      }
      return out;
    });
    const cost = (out) => out.reduce((sum, byte) => sum + Math.min(byte, 256 - byte), 0);
    plain.push(rows[0]);
    best.push(rows.reduce((one, other) => (cost(other) < cost(one) ? other : one)));
  }
  const deflated = [plain, best].map((rows) => deflateSync(Buffer.concat(rows), { level: 9, memLevel: 9 }));
  const [one, other] = deflated;
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, type, 0, 0, 0], 8);
  const all = [["IHDR", header], ...chunks, ["IDAT", one.length < other.length ? one : other], ["IEND", Buffer.alloc(0)]];
  return Buffer.concat([Buffer.from("\x89PNG\r\n\x1a\n", "latin1"), ...all.map(([name, body]) => chunk(name, body))]);
}

function chunk(name, body) {
  const whole = Buffer.concat([Buffer.alloc(4), Buffer.from(name, "latin1"), body, Buffer.alloc(4)]);
  whole.writeUInt32BE(body.length, 0);
  whole.writeUInt32BE(crc32(whole.subarray(4, whole.length - 4)), whole.length - 4);
  return whole;
}
