import { describe, expect, test } from 'vitest'
import { commandLine, flag, list, text, usually } from '../base/declare.ts'
import { ALL, overview } from '../commands.ts'
import { HELP_COLUMNS, helpOf, readArguments } from './read.ts'

const LINE = commandLine({
  name: 'try',
  takes: '<name>',
  summary: 'tries',
  groups: {
    One: { out: text('DIR', 'a folder'), seed: usually('1', 'N', 'a seed') },
    Two: { tool: list('FILE', 'a tool'), force: flag('forces'), 'no-marks': flag('leaves out') },
  },
  examples: ['try a'],
})
const read = (...args: string[]) => readArguments(LINE, args)

describe('options', () => {
  test('what is not given is undefined, false or usual', () => {
    expect(read('a')).toEqual({
      values: { out: undefined, seed: '1', tool: undefined, force: false, 'no-marks': false },
      positionals: ['a'],
    })
  })

  test('names and options stand in any order', () => {
    const { values, positionals } = read(
      '--tool',
      'a',
      'x',
      '--tool=b',
      '--force',
      '--no-marks',
      'y',
    )
    expect(values).toMatchObject({ tool: ['a', 'b'], force: true, 'no-marks': true })
    expect(positionals).toEqual(['x', 'y'])
  })

  test.for([
    [['--oud', 'x'], "unknown option '--oud' (Did you mean --out?)"],
    [['--out'], "option '--out <DIR>' argument missing"],
    [['-z'], "unknown option '-z'"],
  ] as const)('%j is refused', ([args, message]) => {
    expect(() => read(...args)).toThrow(message)
  })
})

describe('the help', () => {
  test('of the whole fits a screen', () => {
    const lines = overview().split('\n')
    expect(lines.length).toBeLessThanOrEqual(24)
    for (const line of lines) expect(line.length).toBeLessThanOrEqual(HELP_COLUMNS)
    for (const [name, { line }] of Object.entries(ALL))
      expect(lines.map((row) => row.trim().split(/ {2,}/))).toContainEqual([name, line.summary])
  })

  test.for(Object.entries(ALL))(
    'of %s has every option with a sentence, in columns',
    ([name, { line }]) => {
      const shown = helpOf(line)
      for (const row of shown.split('\n')) expect(row.length, row).toBeLessThanOrEqual(HELP_COLUMNS)
      expect(shown).toContain(`Usage: npm run -s lab -- ${name} `)
      for (const [heading, options] of Object.entries(line.groups)) {
        expect(shown).toContain(`${heading}:\n`)
        for (const option of Object.keys(options))
          expect(shown).toMatch(new RegExp(`^  --${option}[ ,]`, 'm'))
      }
      for (const example of line.examples) expect(shown).toContain(`npm run -s lab -- ${example}`)
    },
  )
})
