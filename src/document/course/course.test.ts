import fc from 'fast-check'
import { expect, test } from 'vitest'
import { encodeHandedIn, readCode } from './code.ts'
import { COURSE_FORMAT, type Course, courseId, itemId, parseCourse } from './course.ts'
import { courseFileText, decodeCourse, encodeCourse, readCourseText } from './course_link.ts'
import { progressFileText, readProgressText } from './progress.ts'

const DOCUMENT = {
  format: COURSE_FORMAT,
  title: 'RL in two hours',
  items: [
    { kind: 'lesson', lesson: 'kl' },
    { kind: 'run', title: 'GRPO', link: 'v=1&p=tiny-grpo&phases.1.steps=20' },
    {
      kind: 'page',
      title: 'Mine',
      text: 'One.\n\nTwo.',
      questions: [{ asks: 'Why?', choices: ['a', 'b'], right: 1 }],
    },
  ],
}

function made(change: object = {}): Course {
  const parsed = parseCourse({ ...DOCUMENT, ...change })
  if (!parsed.ok) throw new RangeError(JSON.stringify(parsed.issues))
  return parsed.course
}
const item = (change: object) => ({ items: [change] })
const page = (question: object) =>
  item({ kind: 'page', title: 'x', text: 'x', questions: [{ asks: '?', ...question }] })

test('a course comes back from its link and its file', () => {
  const course = made({ in_order: true, lock: ['settings'] })
  expect(decodeCourse(encodeCourse(course))).toEqual({ ok: true, course })
  expect(readCourseText(courseFileText(course))).toEqual({ ok: true, course })
  expect(itemId(course, 0)).toBe('kl')
  expect(itemId(course, 2)).toBe(`${courseId(course)}/2`)
  expect(courseId(made({ title: 'Another' }))).not.toBe(courseId(made()))
})

test.for<[string, object, string]>([
  ['no title', { title: ' ' }, 'title'],
  ['an unknown field', { more: 1 }, 'more'],
  ['nothing in it', { items: [] }, 'items'],
  ['an unknown lesson', item({ kind: 'lesson', lesson: 'magic' }), "there is no lesson 'magic'"],
  ['a name of every object', item({ kind: 'lesson', lesson: 'toString' }), 'there is no lesson'],
  [
    'an unknown preset',
    item({ kind: 'run', title: 'x', link: 'v=1&p=magic' }),
    'There is no preset',
  ],
  ['no such choice', page({ choices: ['a', 'b'], right: 2 }), 'expected one of 2 choices'],
  ['a choice twice', page({ choices: ['a', 'a'], right: 0 }), 'expected each choice once'],
  ['one choice', page({ choices: ['a'], right: 0 }), 'items.0.questions.0.choices'],
  ['a text that turns around', { title: 'a\u202eb' }, 'cannot be seen'],
  ['a lock that is none', { lock: ['tab'] }, 'lock.0'],
  ['a long text', item({ kind: 'page', title: 'x', text: 'x'.repeat(5000) }), 'text: '],
  ['no title', { title: ' ' }, 'title: expected a text, found none'],
  ['no item', { items: [] }, 'items: expected a lesson, an experiment or a page'],
  ['a lesson twice', { items: [DOCUMENT.items[0], DOCUMENT.items[0]] }, 'each lesson once'],
])('a course with %s is refused, and its place is named', ([, change, said]) => {
  const parsed = parseCourse({ ...DOCUMENT, ...change })
  expect(parsed.ok).toBe(false)
  const text = parsed.ok ? '' : parsed.issues.map((i) => `${i.path}: ${i.message}`).join('\n')
  expect(text).toContain(said)
})

test('no text throws, and none but a course is one', () => {
  const encoded = encodeCourse(made())
  for (const text of ['', 'null', '[]', '{}', '{"__proto__":{}}', encoded.slice(0, 40)]) {
    expect(decodeCourse(text).ok).toBe(false)
    expect(readCourseText(text).ok).toBe(false)
    expect(readProgressText(text).ok).toBe(false)
    expect(readCode(text).ok).toBe(false)
  }
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.json(), fc.base64String()), (text) => {
      expect(decodeCourse(text).ok || readProgressText(text).ok || readCode(text).ok).toBe(false)
    }),
    { numRuns: 200 },
  )
})

const RUN = {
  link: 'v=1&p=tiny',
  step: 4,
  document: 'a'.repeat(32),
  curves: 'b'.repeat(32),
  adapter: 'own',
}

test('progress comes back from its file, and what is wrong with one is named', () => {
  const progress = {
    kl: {
      done: ['k1'],
      is_finished: false,
      chosen: { k1: [1, 0] },
      runs: { leash: RUN },
      results: { leash: 'The KL was 0.1.' },
    },
  }
  expect(readProgressText(progressFileText(progress))).toEqual({ ok: true, progress })
  const wrong = (change: object) => {
    const read = readProgressText(
      progressFileText({ kl: { ...progress.kl, ...change } } as typeof progress),
    )
    return read.ok ? '' : read.issues.map(({ path }) => path).join()
  }
  expect(wrong({ done: 'all' })).toBe('lessons.kl.done')
  expect(wrong({ runs: { leash: { ...RUN, curves: 'x' } } })).toBe('lessons.kl.runs.leash.curves')
  expect(wrong({ chosen: { k1: [99] } })).toBe('lessons.kl.chosen.k1.0')
  const hostile =
    '{"format":"understory-progress-1","lessons":{"__proto__":{"done":[],"is_finished":true}}}'
  expect(readProgressText(hostile)).toEqual({ ok: true, progress: {} })
})

test('a code comes back, also broken into lines, and a changed one is refused', () => {
  const handed = {
    by: 'Ada',
    understory: '1.0.0',
    course: null,
    items: [{ id: 'kl', chosen: { k1: [1, 0] }, runs: { leash: RUN } }],
  }
  const code = encodeHandedIn(handed)
  expect(readCode(code)).toEqual({ ok: true, handed: { version: 1, ...handed } })
  expect(readCode(`  ${code.replaceAll(/(.{30})/g, '$1\n')}`).ok).toBe(true)
  const why = (text: string) => {
    const read = readCode(text)
    return read.ok ? '' : read.why
  }
  const at = 40
  const changed = `${code.slice(0, at)}${code[at] === 'A' ? 'B' : 'A'}${code.slice(at + 1)}`
  expect(why(changed)).toContain('damaged')
  expect(why(code.slice(0, -3))).toContain('damaged')
  expect(why('v=1&p=tiny')).toContain('begins with “understory.”')
  expect(why(encodeHandedIn({ ...handed, items: [] }))).toContain('items')
  expect(why(encodeHandedIn({ ...handed, understory: 'a\u202e' }))).toContain('understory:')
  const cleaned = readCode(encodeHandedIn({ ...handed, by: ' a\u202e\n b ' }))
  expect(cleaned).toMatchObject({ ok: true, handed: { by: 'a b' } })
})
