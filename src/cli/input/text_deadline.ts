// Ends a tokenizer's pattern that takes too long on the command line: code that runs can be ended
// there by V8.
import { Script } from 'node:vm'
import {
  installPatternGuard,
  type PatternGuard,
} from '../../tasks/tokenizers/hugging_face/pattern_guard.ts'

import { TokenizerFileError } from '../../tasks/tokenizers/hugging_face/tokenizer_json.ts'

/** Far above what any text of a task takes, with every pattern that is in use. */
const MOST_MS = 10_000

/** V8 ends a script after a time, and everything that the script has called. */
const script = new Script('understoryWork()')
const scope = globalThis as { understoryWork?: () => void }

/** Ends work after `timeout` milliseconds. */
export const guardOf =
  (timeout: number): PatternGuard =>
  (work, during) => {
    let result: ReturnType<typeof work> | undefined
    scope.understoryWork = () => {
      result = work()
    }
    try {
      script.runInThisContext({ timeout })
      return result as ReturnType<typeof work>
    } catch (error) {
      if ((error as { code?: unknown } | null)?.code !== 'ERR_SCRIPT_EXECUTION_TIMEOUT') throw error
      throw new TokenizerFileError(
        `${during()}: took longer than ${timeout} ms on one text and was ended. The pattern backtracks without end; use another tokenizer.`,
      )
    } finally {
      delete scope.understoryWork
    }
  }

/** From now on no pattern of a tokenizer runs longer than `mostMs` on one text. */
export const limitPatterns = (mostMs = MOST_MS): void => installPatternGuard(guardOf(mostMs))
