import { expect, test } from 'vitest'
import type { HandedIn } from '../../document/course/code.ts'
import { COURSE_FORMAT, courseId, itemId, parseCourse } from '../../document/course/course.ts'
import { LESSON_KEYS } from '../../document/course/lesson_keys.ts'
import { checkCode } from './check_code.ts'
import { curvesHash, documentHash } from './curves_hash.ts'

const { questions, tries } = LESSON_KEYS.kl
const right = Object.fromEntries(
  Object.entries(questions).map(([name, key]) => [name, [key.right]]),
)
const runOf = (link: string) => ({
  link,
  step: 40,
  document: documentHash(link),
  curves: 'b'.repeat(32),
  adapter: 'own',
})
const code = (chosen: Record<string, number[]>, link: string): HandedIn => ({
  version: 1,
  by: 'Ada',
  understory: '1.0.0',
  course: null,
  items: [{ id: 'kl', chosen, runs: { leash: runOf(link) } }],
})

test('right answers and the run that was asked for count, whatever its seed', () => {
  const checked = checkCode(code(right, `${tries.leash}&seed=7`))
  expect(checked).toMatchObject({ title: LESSON_KEYS.kl.title, right: 3, of: 3, notes: [] })
  expect(checked.items[0].parts[2].says).toContain('seed 7, 40 steps on own')
})

test('a wrong answer, a missing one and another run do not count, and it says why', () => {
  const names = Object.keys(questions)
  const wrong = (questions[names[0]].right + 1) % questions[names[0]].choices
  const checked = checkCode(code({ [names[0]]: [0, wrong] }, 'v=1&p=tiny'))
  expect(checked).toMatchObject({ right: 0, of: 3 })
  const [first, second, run] = checked.items[0].parts.map(({ says }) => says)
  expect(first).toBe('Wrong, after 2 tries.')
  expect(second).toBe('Not answered.')
  expect(run).toContain('Another run than the one that was asked for')
  const lied = code(right, tries.leash)
  lied.items[0].runs.leash.document = 'c'.repeat(32)
  expect(checkCode(lied).items[0].parts[2].says).toContain('another version of the lab, or by hand')
  expect(checkCode(code({ [names[0]]: [9] }, tries.leash)).items[0].parts[0].says).toContain(
    'does not have',
  )
})

test('a teacher’s own questions need the course, and only the course itself', () => {
  const made = (title: string) => {
    const question = { asks: 'Why?', choices: ['a', 'b'], right: 1 }
    const parsed = parseCourse({
      format: COURSE_FORMAT,
      title,
      items: [
        { kind: 'lesson', lesson: 'kl' },
        { kind: 'page', title: 'Mine', text: 'x', questions: [question] },
      ],
    })
    if (!parsed.ok) throw new RangeError(JSON.stringify(parsed.issues))
    return parsed.course
  }
  const course = made('A')
  const { items } = code(right, tries.leash)
  const own = { id: itemId(course, 1), chosen: { q0: [0, 1] }, runs: {} }
  const handed = {
    ...code(right, tries.leash),
    course: { id: courseId(course), title: 'A' },
    items: [...items, own],
  }
  const checked = checkCode(handed, course)
  expect(checked).toMatchObject({ title: 'A', right: 4, of: 4 })
  expect(checked.items[1].parts[0].says).toBe('Right, after 2 tries.')
  expect(checkCode(handed)).toMatchObject({
    right: 3,
    of: 3,
    notes: [expect.stringMatching(/own/)],
  })
  expect(() => checkCode(handed, made('B'))).toThrow('not of this “B”')
})

test('the hash is of what was trained, up to a step, and not of times', () => {
  const column = (...values: number[]) => ({
    steps: Float64Array.from(values, (_, i) => i + 1),
    values: Float64Array.from(values),
    length: values.length,
  })
  const of = (scores: number[], time: number, last = 3) =>
    curvesHash(
      new Map([
        ['critic/score/mean', column(...scores)],
        ['timing_s/step', column(time)],
      ]),
      last,
    )
  expect(of([1, 2, 3], 1)).toBe(of([1, 2, 3, 4], 2))
  expect(of([1, 2, 3], 1)).not.toBe(of([1, 2, 3.001], 1))
  expect(of([1, 2, 3, 4], 1, 4)).not.toBe(of([1, 2, 3], 1, 3))
  expect(of([Math.fround(0.1)], 1)).toBe(of([0.1], 1))
})
