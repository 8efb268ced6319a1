// Says what of a lesson is left to do.
import { LESSON_KEYS } from '../../../document/course/lesson_keys.ts'
import type { LessonProgress } from '../../../document/course/progress.ts'
import { locale, t } from '../../kit/translator.ts'

interface Left {
  /** How many questions and experiments. */
  readonly count: number
  /** '1 question still wrong and 1 experiment left'. */
  readonly words: string
}

const wrongWords = (count: number): string =>
  count === 1 ? '1 question still wrong' : `${count} questions still wrong`
const openWords = (count: number): string =>
  count === 1 ? '1 question not answered' : `${count} questions not answered`
const triesWords = (count: number): string =>
  count === 1 ? '1 experiment left' : `${count} experiments left`

/** undefined for what is no lesson of the lab, such as a course's own page. */
export function leftOf(id: string, { done, chosen }: LessonProgress): Left | undefined {
  if (!Object.hasOwn(LESSON_KEYS, id)) return undefined
  const { questions, tries } = LESSON_KEYS[id]
  const open = Object.keys(questions).filter((name) => !done.includes(name))
  const wrong = open.filter((name) => chosen[name] !== undefined).length
  const unanswered = open.length - wrong
  const experiments = Object.keys(tries).filter((name) => !done.includes(name)).length
  const parts = [
    wrong > 0 ? wrongWords(wrong) : '',
    unanswered > 0 ? openWords(unanswered) : '',
    experiments > 0 ? triesWords(experiments) : '',
  ].filter(Boolean)
  const words = new Intl.ListFormat(locale()).format(parts.map(t))
  return { count: open.length + experiments, words }
}
