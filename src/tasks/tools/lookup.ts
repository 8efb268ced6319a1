// Declares a small table of facts: the value that belongs to a key.
import type { Tool } from './tool.ts'

/** Squares, cubes and primes would be sums; these are facts that nothing in the question tells. */
export const FACTS: ReadonlyMap<string, string> = new Map([
  ['days in a week', '7'],
  ['months in a year', '12'],
  ['letters in the alphabet', '26'],
  ['degrees in a circle', '360'],
  ['minutes in a day', '1440'],
  ['legs of a spider', '8'],
  ['players in a football team', '11'],
  ['keys of a piano', '88'],
  ['squares of a chessboard', '64'],
  ['cards in a pack', '52'],
  ...Array.from({ length: 100 }, (_, key) => [String(key), String((key * 37 + 11) % 100)] as const),
])

export const lookup: Tool = {
  label: 'lookup',
  schema: {
    type: 'function',
    function: {
      name: 'lookup',
      description: 'Looks a key up in a small table of facts.',
      parameters: {
        type: 'object',
        properties: {
          key: { type: 'string', description: 'The key, e.g. keys of a piano, or 42' },
        },
        required: ['key'],
      },
    },
  },
  marks: { open: '{', close: '}', argument: 'key' },
  call({ key }) {
    const value = typeof key === 'string' ? FACTS.get(key.trim().toLowerCase()) : undefined
    if (value === undefined) throw new RangeError('the table has no such key')
    return { text: value }
  },
}
