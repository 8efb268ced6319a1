// Declares a calculator: whole-number arithmetic, exactly.
import { workOut } from '../task/expression.ts'
import type { Tool } from './tool.ts'

const MAX_LENGTH = 200

export const calculator: Tool = {
  label: 'calculator',
  schema: {
    type: 'function',
    function: {
      name: 'calculator',
      description: 'Works out an expression of whole numbers with + - * / and brackets.',
      parameters: {
        type: 'object',
        properties: {
          expression: { type: 'string', description: 'The expression, e.g. 12*(3+4)' },
        },
        required: ['expression'],
      },
    },
  },
  marks: { open: '[', close: ']', argument: 'expression' },
  call({ expression }) {
    if (typeof expression !== 'string')
      throw new TypeError('expected a text in the argument expression')
    if (expression.length > MAX_LENGTH)
      throw new RangeError(`expected at most ${MAX_LENGTH} characters, got ${expression.length}`)
    const worked = workOut(expression.replaceAll(/\s/g, ''))
    if (!worked) throw new SyntaxError('this is no expression of whole numbers')
    if (!Number.isFinite(worked.value)) throw new RangeError('division by zero')
    if (!Number.isSafeInteger(Math.trunc(worked.value)))
      throw new RangeError('the result is too large')
    return { text: String(worked.value) }
  },
}
