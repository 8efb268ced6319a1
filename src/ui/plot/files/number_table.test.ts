import { expect, test } from 'vitest'
import { tableCsv, tableJsonl } from './number_table.ts'

const table = {
  columns: ['layer', 'ΔH, nats'],
  rows: [
    ['1', '−0.25'],
    ['2, "final"', '–'],
  ],
}

test('a table is quoted where it must be', () => {
  expect(tableCsv(table)).toBe('layer,"ΔH, nats"\n1,-0.25\n"2, ""final""",–\n')
})

test('numbers are numbers, and what was not computed stays a dash', () => {
  expect(
    tableJsonl(table)
      .trim()
      .split('\n')
      .map((row) => JSON.parse(row)),
  ).toEqual([
    { layer: 1, 'ΔH, nats': -0.25 },
    { layer: '2, "final"', 'ΔH, nats': '–' },
  ])
})

test('no cell is a formula, and numbers keep their sign', () => {
  const own = {
    columns: ['=A1', 'x'],
    rows: [
      ['@token', '−0.5'],
      ['+', '-2e-3'],
    ],
  }
  expect(tableCsv(own)).toBe("'=A1,x\n'@token,-0.5\n'+,-0.002\n")
})
