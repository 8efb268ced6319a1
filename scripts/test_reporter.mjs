// Tells scripts/test.mjs which test runs: a reporter of Vitest and of Playwright alike. One line of JSON per event.

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
    tell({ on: 'end', file: short(test.module.moduleId), name: test.fullName, state, message })
  }

  // Playwright.
  onTestBegin(test) {
    tell({ on: 'begin', file: short(test.location.file), name: test.title })
  }
  onTestEnd(test, result) {
    const state = result.status === 'skipped' ? 'skipped' : test.ok() ? 'passed' : 'failed'
    const message = result.errors.map((error) => error.message).join('\n')
    tell({ on: 'end', file: short(test.location.file), name: test.title, state, message })
  }
  printsToStdio() {
    return true
  }
}
