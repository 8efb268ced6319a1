// lab check: judges a code that a person handed in, without a server.
import { existsSync, readFileSync, statSync } from 'node:fs'
import { readCode } from '../document/course/code.ts'
import type { Course } from '../document/course/course.ts'
import { decodeCourse, readCourseText } from '../document/course/course_link.ts'
import type { TriedRun } from '../document/course/progress.ts'
import { viewParts } from '../document/links/view.ts'
import { type CheckedCode, checkCode, WHAT_IT_PROVES } from '../record/handed_in/check_code.ts'
import { curvesHash } from '../record/handed_in/curves_hash.ts'
import { type Command, LabFailure, UsageError } from './base/command.ts'
import { commandLine, text } from './base/declare.ts'
import { print } from './base/terminal.ts'
import { readOneRun } from './logs/log_source.ts'
import { readArguments } from './options/read.ts'

const LINE = commandLine({
  name: 'check',
  takes: '<code, or a file with it>',
  summary: 'judges a code that a person handed in: answers and runs',
  notes: [
    WHAT_IT_PROVES,
    'The exit status is 0 where everything is right, else 1. The link of each run stands in the answer: lab train ’?LINK’ --out DIR trains it again.',
  ],
  groups: {
    Options: {
      course: text('FILE|LINK', 'the course that it is of: judges its own pages too'),
      run: text('DIR', 'a run that was trained again: compares the hash of its curves'),
    },
  },
  examples: [
    'check code.txt',
    'check code.txt --course rl.course.json',
    'check code.txt --run runs/again',
  ],
})

/** Files with a code are small. */
const MOST_BYTES = 1_000_000

export const check: Command = {
  line: LINE,
  run: async (args) => {
    const { values, positionals } = readArguments(LINE, args)
    if (positionals.length !== 1) throw new UsageError('check takes one code, or a file with it')
    const read = readCode(fileOr(positionals[0]))
    if (!read.ok) throw new LabFailure(read.why)
    const checked = judged(read.handed, values.course)
    for (const line of linesOf(checked)) print(line)
    const isSame = values.run === undefined || (await isTrainedAgain(checked, values.run))
    return isSame && checked.right === checked.of && checked.notes.length === 0 ? 0 : 1
  },
}

/** What a file holds; a word that names no file is the text itself. */
function fileOr(word: string): string {
  if (word.length > 4000 || !existsSync(word)) return word
  const { size } = statSync(word)
  if (size > MOST_BYTES) throw new LabFailure(`${word}: it is too large (${size} bytes)`)
  return readFileSync(word, 'utf8')
}

function judged(handed: Parameters<typeof checkCode>[0], course: string | undefined): CheckedCode {
  try {
    return checkCode(handed, course === undefined ? undefined : givenCourse(course))
  } catch (error) {
    if (error instanceof RangeError) throw new LabFailure(`--course: ${error.message}`)
    throw error
  }
}

function givenCourse(word: string): Course {
  const { course } = viewParts(word.slice(Math.max(0, word.indexOf('#'))))
  const parsed = course === undefined ? readCourseText(fileOr(word)) : decodeCourse(course)
  if (parsed.ok) return parsed.course
  const [{ path, message }] = parsed.issues
  throw new LabFailure(`--course: ${path === '' ? '' : `${path}: `}${message}`)
}

function linesOf({ title, by, understory, items, right, of, notes }: CheckedCode): string[] {
  const mark = (isRight: boolean) => (isRight ? 'right' : 'WRONG')
  return [
    `${by || 'No name'}: ${right} of ${of} in “${title}” (Understory ${understory})`,
    ...notes,
    ...items.flatMap((item) => [
      '',
      item.title,
      ...item.parts.flatMap(({ asks, is_right, says, run }) => [
        `  ${mark(is_right)}  ${asks} ${says}`,
        ...(run ? [`         ?${run.link}`] : []),
      ]),
    ]),
    '',
    WHAT_IT_PROVES,
  ]
}

/** Compares a run of this machine with those of the code. Throws LabFailure for what is no run. */
async function isTrainedAgain({ items }: CheckedCode, folder: string): Promise<boolean> {
  const { series, step } = await readOneRun(folder)
  const runs = items.flatMap(({ parts }) => parts.flatMap(({ run }) => run ?? []))
  const hasAll = (run: TriedRun) => step >= run.step
  const same = runs.find((run) => hasAll(run) && curvesHash(series, run.step) === run.curves)
  print('')
  if (same) {
    print(`--run: the curves are those of the code, bit for bit, over ${same.step} steps.`)
    return true
  }
  const long = runs.filter(hasAll).length
  print(
    long === 0
      ? `--run: ${folder} has ${step} steps, fewer than any run of the code. Train it to the end.`
      : '--run: the curves are not those of the code. On another kind of GPU or browser that is no proof of anything: bits differ there.',
  )
  return false
}
