// Writes statements of WGSL, one for each register or pair of registers.

export const range = (count: number): number[] => Array.from({ length: count }, (_, i) => i)
export const lines = (count: number, line: (i: number) => string): string =>
  range(count).map(line).join('\n')
export const pairs = (rows: number, cols: number, line: (r: number, c: number) => string): string =>
  lines(rows, (r) => lines(cols, (c) => line(r, c)))
export const component = (i: number): string => 'xyzw'[i % 4]
