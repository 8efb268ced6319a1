// Evaluates the formulas that the page shows, for tests.

/** The value of a line's text, as a person with a calculator finds it. */
export function evaluated(text: string): number {
  const source = text
    .replaceAll('−', '-')
    .replaceAll('·', '*')
    .replace(/^½ \* \((.*)\)²$/, '0.5 * Math.pow($1, 2)')
    .replace(/\|(.*)\|/, 'Math.abs($1)')
    .replace(/\b(exp|min|max)\(/g, 'Math.$1(')
    .replace(/\bclip\(/g, '((x, a, b) => Math.min(b, Math.max(a, x)))(')
    .replace(/\bsigmoid\(/g, '((x) => 1 / (1 + Math.exp(-x)))(')
  return Number(new Function(`return ${source}`)())
}
