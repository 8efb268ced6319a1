import { expect, test } from 'vitest'
import { csvCell, csvTable, markdownTable, markdownText } from './text_tables.ts'

test('a text that a spreadsheet would compute stays a text, and numbers stay numbers', () => {
  expect(['=1+1', '+1', '-1', '@x', '\tx', '\rx'].map(csvCell)).toEqual([
    "'=1+1",
    "'+1",
    "'-1",
    "'@x",
    "'\tx",
    '"\'\rx"',
  ])
  expect(csvCell('=HYPERLINK("https://x")')).toBe('"\'=HYPERLINK(""https://x"")"')
  expect(['a=1', 'val/x', '', -0.5, 1e-7, Number.NaN, undefined].map(csvCell)).toEqual([
    'a=1',
    'val/x',
    '',
    '-0.5',
    '1e-7',
    'NaN',
    '',
  ])
})

test('a table of CSV has a line per row, and quotes what would end a cell', () => {
  expect(
    csvTable([
      ['a,"b"', 1],
      ['two\nlines', undefined],
    ]),
  ).toBe('"a,""b""",1\n"two\nlines",\n')
})

test.for([
  ['<script>alert(1)</script>', '\\<script\\>alert(1)\\</script\\>'],
  ['[here](javascript:alert(1))', '[here\\](javascript:alert(1))'],
  ['[a][b] [c]: d', '[a\\][b] [c\\]: d'],
  ['![x](y)', '!\\[x\\](y)'],
  ['a | b', 'a \\| b'],
  ['`code` **bold** \\', '\\`code\\` \\*\\*bold\\*\\* \\\\'],
  ['one\n\n# two', 'one # two'],
  ['+0.5 [−0.1, +1.2], lr_warmup', '+0.5 [−0.1, +1.2], lr_warmup'],
])('in Markdown %j begins nothing', ([text, escaped]) => {
  expect(markdownText(text)).toBe(escaped)
})

test('a table of Markdown', () => {
  expect(markdownTable(['a', 'b'], [['1', '2']])).toBe('| a | b |\n| --- | --- |\n| 1 | 2 |')
})
