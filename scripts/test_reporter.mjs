// Tells scripts/test.mjs which test runs: a reporter of Vitest and of Playwright alike. One line of
// JSON per event.

import { relative } from 'node:path'
import { MARK } from './stage_watch.mjs'

const tell = (event) => process.stdout.write(`\n${MARK}${JSON.stringify(event)}\n`)
const short = (path) => relative(process.cwd(), path)

export default class TestReporter {
  // Vitest.
  onTestModuleStart(module) {
    tell({ on: 'file', file: short(module.moduleId) })
  }
  onTestModuleEnd(module) {
    tell({ on: 'file_end', file: short(module.moduleId) })
  }
  onTestCaseReady(test) {
    tell({ on: 'begin', file: short(test.module.moduleId), name: test.fullName })
  }
  onTestCaseResult(test) {
    const { state, errors } = test.result()
    const message = errors?.map((error) => error.stack ?? error.message).join('\n')
    const is_second = test.diagnostic()?.flaky === true
    const file = short(test.module.moduleId)
    tell({ on: 'end', file, name: test.fullName, state, message, is_second })
  }

  // Playwright.
  onTestBegin(test) {
    tell({ on: 'begin', file: short(test.location.file), name: test.title })
  }
  onTestEnd(test, result) {
    const isTriedAgain = !test.ok() && result.retry < test.retries
    const failed = isTriedAgain ? 'tried again' : 'failed'
    const state = result.status === 'skipped' ? 'skipped' : test.ok() ? 'passed' : failed
    const is_second = state === 'passed' && result.retry > 0
    const message = test.results.flatMap(({ errors }) => errors.map((e) => e.message)).join('\n')
    const file = short(test.location.file)
    tell({ on: 'end', file, name: test.title, state, message, is_second })
  }
  printsToStdio() {
    return true
  }
}
