// Colours from the site's hue. The lightness is fixed, so that text is readable on any hue; the chroma is reduced until the
// colour is in the sRGB gamut.

/** A style sheet with the colours of a hue. It begins with a comment of the number. */
export function accentsOf(hue) {
  const both = (light, dark) => `light-dark(${hex(...light, hue)},${hex(...dark, hue)})`;
  const all = {
    accent: both([0.52, 0.19], [0.52, 0.19]),
    'accent-hover': both([0.45, 0.17], [0.48, 0.18]),
    'accent-ink': both([0.45, 0.17], [0.77, 0.13]),
    'accent-soft': both([0.94, 0.03], [0.28, 0.06]),
    own: both([0.52, 0.19], [0.52, 0.19]),
    'own-deep': both([0.45, 0.17], [0.43, 0.16]),
  };
  return `/*${hue}*/:root{${Object.entries(all).map(([name, value]) => `--${name}:${value}`).join(';')}}`;
}

/** oklch to sRGB (CSS Color 4 §18), as `#rrggbb`. */
export function hex(lightness, chroma, hue) {
  for (let c = chroma; ; c -= 0.004) {
    const rgb = toRGB(lightness, Math.max(0, c), hue);
    if (c <= 0 || rgb.every((it) => it >= -0.0005 && it <= 1.0005)) {
      return `#${rgb
        .map((it) =>
          Math.round(255 * Math.min(1, Math.max(0, it)))
            .toString(16)
            .padStart(2, '0'),
        )
        .join('')}`;
    }
  }
}

function toRGB(lightness, chroma, hue) {
  const angle = (hue * Math.PI) / 180;
  const [a, b] = [chroma * Math.cos(angle), chroma * Math.sin(angle)];
  const l = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3;
  const m = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3;
  const s = (lightness - 0.0894841775 * a - 1.291485548 * b) ** 3;
  return [
    4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s,
    -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
    -0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s,
  ].map((it) => (it <= 0.0031308 ? 12.92 * it : 1.055 * it ** (1 / 2.4) - 0.055));
}
