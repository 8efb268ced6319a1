// Tests by hand what verifiers accept and refuse: above all where several answers are right, or
// partly right.
import { describe, expect, test } from 'vitest'
import { createTask, loadTask, TASKS } from '../index.ts'

type Scored = readonly [prompt: string, response: string, score: number]

const FEARFUL = 'Mia was a shy mouse who lived by the river. She was afraid of thunder.'
const BRAVE =
  'One day, she hid under her bed and did not come out. Then a bear named Tom came by. Mia told Tom everything. They sang a song together. And then she was not afraid of thunder any more. And they were happy ever after.'

const CASES: Readonly<Record<string, readonly Scored[]>> = {
  base_conversion: [
    ['2d,16,2=', '101101', 1],
    ['101101,2,16=', '2d', 1],
    ['2d,16,2=', '0101101', 0],
  ],
  bracket_repair: [
    ['([})=', '([])', 1],
    ['([})=', '({})', 1],
    ['([})=', '([})', 0],
    ['([})=', '(())', 0], // two changes
    ['([})=', '()', 0],
  ],
  caesar_cipher: [
    ['khoor,3=', 'hello', 1],
    ['abc,1=', 'zab', 1],
    ['khoor,3=', 'hellp', 0.8],
    ['khoor,3=', 'hell', 0],
  ],
  calendar_arithmetic: [
    ['tue+17=', 'fri', 1],
    ['2024-02-27+3=', '2024-03-01', 1],
    ['2023-02-27+3=', '2023-03-02', 1],
    ['2024-02-27+3=', '2024-3-1', 0],
  ],
  chain_sum: [
    ['12+34-50=', '-4', 1],
    ['12+34-50=', '4', 0],
  ],
  countdown: [
    ['3,4,5=17', '3*4+5', 1],
    ['3,4,5=17', '5+(4*3)', 1],
    ['3,4,5=17', '4*5-3', 1],
    ['3,4,5=17', '17', 0],
    ['3,4,5=17', '3*4+5+5-5', 0],
    ['6,3,2=4', '6/3*2', 1],
    ['3,4,5=17', '3*4+', 0],
  ],
  gcd: [
    ['12,18=', '6', 1],
    ['12,18=', '3', 0],
  ],
  knights_knaves: [
    ['A:B+,B:A=C,C:B+?', '+++', 1],
    ['A:B+,B:A=C,C:B+?', '+-+', 0],
  ],
  list_functions: [
    ['rev,3,17,5=', '5,17,3', 1],
    ['max,3,17,5=', '17', 1],
    ['sum,3,17,5=', '25', 1],
    ['len,3,17,5=', '3', 1],
    ['len,3,17,5=', '25', 0],
  ],
  mini_sudoku: [
    ['12.4/34.2/2143/43.1=', '1234/3412/2143/4321', 1],
    ['12.4/34.2/2143/43.1=', '1234/3422/2143/4321', 2 / 3],
    ['12.4/34.2/2143/43.1=', '2234/3412/2143/4321', 0], // a given cell is changed
    ['12.4/34.2/2143/43.1=', '1234341221434321', 0],
  ],
  number_comparison: [
    ['37?85=', '<', 1],
    ['85?37=', '>', 1],
    ['85?85=', '=', 1],
    ['85?85=', '<', 0],
  ],
  prime_factorization: [
    ['84=', '2*2*3*7', 1],
    ['84=', '7*3*2*2', 1],
    ['84=', '4*3*7', 0],
    ['84=', '84', 0],
    ['7=', '7', 1],
    ['7=', '7*1', 0],
  ],
  propositional_logic: [
    ['((T&!F)>F)=', 'F', 1],
    ['(F>T)=', 'T', 1],
    ['(!T^(F|T))=', 'T', 1],
    ['(T^T)=', 'T', 0],
  ],
  roman_numerals: [
    ['1994=', 'MCMXCIV', 1],
    ['MCMXCIV=', '1994', 1],
    ['4=', 'IIII', 0],
  ],
  shortest_path: [
    ['..#/#../...=', 'RDRD', 1],
    ['..#/#../...=', 'RDDR', 1],
    ['..#/#../...=', 'DRRD', 0], // through a wall
    ['..#/#../...=', 'RDLRDR', 0], // not the shortest
    ['..#/#../...=', 'X', 0],
    ['.#./#../...=', 'X', 1],
    ['.#./#../...=', 'DDRR', 0],
  ],
  simple_equations: [
    ['3*x-4=11?', '5', 1],
    ['3*x+4=1?', '-1', 1],
    ['3*x-4=11?', '05', 0],
  ],
  spell_backward: [
    ['listen=', 'netsil', 1],
    ['listen=', 'netsis', 5 / 6],
    ['listen=', 'netsi', 0],
  ],
  story: [
    [FEARFUL, ` ${BRAVE}`, 1],
    [FEARFUL, ` ${BRAVE.replace('And then she', 'And then he')}`, 7 / 8],
    [FEARFUL, ` ${BRAVE.replace('thunder', 'spiders')}`, 7 / 8],
    [FEARFUL, ` ${BRAVE.split('. ').slice(0, -1).join('. ')}.`, 0], // no end
    [FEARFUL, '', 0],
  ],
  string_manipulation: [
    ['up:hello=', 'HELLO', 1],
    ['del,2:hello=', 'hllo', 1],
    ['rot,2:hello=', 'llohe', 1],
    ['rot,2:hello=', 'lohel', 0],
  ],
}

await loadTask('story')

describe.for(Object.entries(CASES))('%s', ([id, scored]) => {
  const task = createTask(id)
  test.for([...scored])('%s: %s scores %f', ([prompt, response, score]) => {
    expect(task.score(prompt, response)).toBeCloseTo(score, 12)
  })
})

test('a task gives a score between 0 and 1 only where it says what that means', () => {
  for (const { id } of TASKS) {
    const hasPartial = (CASES[id] ?? []).some(([, , score]) => score > 0 && score < 1)
    expect(createTask(id).partial_score !== undefined, id).toBe(hasPartial)
  }
})

test('a puzzle of knights and knaves has one solution, and its signs fit what is said', () => {
  const task = createTask('knights_knaves', { people: 4 })
  for (let i = 0; i < 200; i++) {
    const { prompt, ground_truth } = task.sample(1, i, 'train')
    const kind = (name: string) => ground_truth['ABCD'.indexOf(name)] === '+'
    for (const said of prompt.slice(0, -1).split(',')) {
      const [speaker, , a, sign, b] = said
      const isTrue =
        sign === '+' ? kind(a) : sign === '-' ? !kind(a) : (kind(a) === kind(b)) === (sign === '=')
      expect(isTrue, prompt).toBe(kind(speaker))
    }
  }
})

test('a countdown problem can be solved, and mostly needs more than a sum', () => {
  const task = createTask('countdown', { numbers: 4, max_value: 20 })
  const products = Array.from({ length: 300 }, (_, i) => task.sample(1, i, 'train')).filter(
    ({ ground_truth }) => ground_truth.includes('*'),
  )
  expect(products.length).toBeGreaterThan(100)
})
