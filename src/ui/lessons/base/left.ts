// Says what of a lesson is left to do.
import { LESSON_KEYS } from '../../../document/course/lesson_keys.ts'
import type { LessonProgress } from '../../../document/course/progress.ts'
import { t } from '../../kit/translator.ts'

interface Left {
  /** How many questions, and experiments that can be done here. */
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
const gpuWords = (count: number): string =>
  count === 1 ? '1 experiment that needs a GPU' : `${count} experiments that need a GPU`

/** `lacksGpu`: no experiment can be done here. undefined for what is no lesson of the lab, such as
 * a course's own page. */
export function leftOf(
  id: string,
  { done, chosen }: LessonProgress,
  lacksGpu = false,
): Left | undefined {
  if (!Object.hasOwn(LESSON_KEYS, id)) return undefined
  const { questions, tries } = LESSON_KEYS[id]
  const open = Object.keys(questions).filter((name) => !done.includes(name))
  const wrong = open.filter((name) => chosen[name] !== undefined).length
  const unanswered = open.length - wrong
  const experiments = Object.keys(tries).filter((name) => !done.includes(name)).length
  const parts = [
    wrong > 0 ? wrongWords(wrong) : '',
    unanswered > 0 ? openWords(unanswered) : '',
    experiments > 0 ? (lacksGpu ? gpuWords : triesWords)(experiments) : '',
  ].filter(Boolean)
  const words = t(new Intl.ListFormat('en-GB').format(parts))
  return { count: open.length + (lacksGpu ? 0 : experiments), words }
}

/** What stands at the end of a lesson; `isRead`: all is done that can be done without a GPU. */
export function endSays(
  id: string,
  progress: LessonProgress,
  lacksGpu: boolean,
): { readonly isRead: boolean; readonly says: string } {
  if (progress.is_finished)
    return { isRead: true, says: 'Finished: every question answered, everything tried.' }
  const left = leftOf(id, progress, lacksGpu)
  if (left?.count !== 0) return { isRead: false, says: left?.words ?? '' }
  return {
    isRead: true,
    says: 'Read to its end: every question answered. Its experiments need a GPU.',
  }
}
