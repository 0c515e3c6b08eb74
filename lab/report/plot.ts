import { plot as draw } from 'simple-ascii-chart';
import type { Plot } from '../scenario.ts';

const SVG = { width: 720, height: 240, margin: 48 };

/** The plot for a terminal. */
export function plotInText({ title, unit, points }: Plot): string {
  const coordinates = points.map(([at, value]): [number, number] => [
    Math.round(at * 10) / 10,
    value,
  ]);
  return draw(coordinates, { title: `${title} (${unit} over s)`, width: 72, height: 12 });
}

/** The plot as an SVG file, readable on light and dark. */
export function plotAsSvg({ title, unit, points }: Plot): string {
  const { width, height, margin } = SVG;
  const lastAt = Math.max(...points.map(([at]) => at), 0.001);
  const highest = Math.max(...points.map(([, value]) => value), 1);
  const x = (at: number) => margin + (at / lastAt) * (width - 2 * margin);
  const y = (value: number) => height - margin - (value / highest) * (height - 2 * margin);
  const line = points.map(([at, value]) => `${x(at).toFixed(1)},${y(value).toFixed(1)}`).join(' ');
  const label = (at: [number, number], text: string) =>
    `<text x="${at[0]}" y="${at[1]}" font-size="12" font-family="sans-serif" fill="#777">${escaped(text)}</text>`;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img">`,
    `<title>${escaped(title)}</title>`,
    `<path d="M${margin},${margin} V${height - margin} H${width - margin}" fill="none" stroke="#777"/>`,
    `<polyline points="${line}" fill="none" stroke="#2a7ab9" stroke-width="2"/>`,
    label([margin, margin - 12], `${title}: at most ${highest} ${unit}`),
    label([width - margin - 40, height - margin + 18], `${lastAt.toFixed(1)} s`),
    '</svg>',
    '',
  ].join('\n');
}

function escaped(text: string): string {
  return text.replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`);
}
