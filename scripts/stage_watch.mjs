// Watches a stage of tests while it runs: where it is, whether it still moves, and what to say when
// it does not.

/** Longer than any single test may take, so that a slow machine is no hung one. */
export const QUIET_MS = 15 * 60_000
/** A stage that moves and never ends is a failure as well. */
export const TOTAL_MS = 6 * 60 * 60_000
/** Lines of test_reporter.mjs begin with it. */
export const MARK = '@@understory '
/** Names of running tests, failed tests and lines of output that are shown of a stage that was
 * ended. */
const SHOWN = 3
const LONGEST_LINE = 200

/** Listens to what a stage writes. Every output is progress. */
export class StageWatch {
  passed = 0
  failed = 0
  /** One text for each failed test. */
  failures = []
  /** One text for each test that failed once and passed when it was tried again. */
  second = []
  #begunMs
  #heardMs
  #rest = ''
  /** Tests and files that have begun and not ended, with the time. */
  #tests = new Map()
  #files = new Map()
  /** The test that ended last. */
  #last
  #lines = []

  constructor(nowMs) {
    this.#begunMs = nowMs
    this.#heardMs = nowMs
  }

  /** Takes a piece of output, which may end within a line. */
  hear(text, nowMs) {
    this.#heardMs = nowMs
    const lines = (this.#rest + text).split('\n')
    this.#rest = lines.pop()
    for (const line of lines) this.#line(line, nowMs)
  }

  #line(line, nowMs) {
    const at = line.indexOf(MARK)
    if (at < 0) {
      if (line.trim() !== '') this.#lines = [...this.#lines.slice(1 - SHOWN), line]
      return
    }
    const { on, file, name, state, message, is_second } = JSON.parse(line.slice(at + MARK.length))
    const test = `${file}: ${name}`
    if (on === 'file') this.#files.set(file, nowMs)
    if (on === 'file_end') this.#files.delete(file)
    if (on === 'begin') this.#tests.set(test, nowMs)
    if (on !== 'end') return
    this.#tests.delete(test)
    this.#last = test
    if (state === 'passed') this.passed++
    if (is_second) this.second.push(`${test}\n${message ?? ''}`)
    if (state !== 'failed') return
    this.failed++
    this.failures.push(`✗ ${test}\n${message ?? ''}`)
  }

  /** Why it is to be ended; undefined while it may continue. */
  overdue(nowMs, { quiet_ms = QUIET_MS, total_ms = TOTAL_MS } = {}) {
    if (nowMs - this.#heardMs > quiet_ms)
      return `nothing was heard of it for ${minutes(quiet_ms)}, no test ended`
    if (nowMs - this.#begunMs > total_ms) return `it took more than ${minutes(total_ms)}`
    return undefined
  }

  /** What to print of a stage that was ended: why, the test it was in, and little else. */
  endedWords(why, nowMs) {
    const running = (items) =>
      [...items].slice(0, SHOWN).map(([name, since]) => `${name} (for ${minutes(nowMs - since)})`)
    const more = this.#tests.size - SHOWN
    const within = this.#tests.size > 0 ? running(this.#tests) : running(this.#files)
    return [
      `the stage was ended: ${why}`,
      ...within.map((name) => `in ${name}`),
      ...(more > 0 ? [`and ${more} more`] : []),
      ...(this.#last ? [`after ${this.passed + this.failed} tests, the last: ${this.#last}`] : []),
      ...this.#lines,
    ]
      .map((line) => line.slice(0, LONGEST_LINE))
      .join('\n')
  }

  /** The result of a stage that was ended: what it came to so far, and one failure. */
  ended(why, nowMs) {
    const few = this.failures.slice(0, SHOWN).map((text) => excerpt(text, 4, 0))
    const left = this.failures.length - few.length
    return {
      passed: this.passed,
      failed: this.failed + 1,
      failures: [
        this.endedWords(why, nowMs),
        ...few,
        ...(left > 0 ? [`✗ and ${left} more failed before`] : []),
      ],
    }
  }
}

const minutes = (ms) =>
  ms < 120_000 ? `${Math.round(ms / 1000)} s` : `${Math.round(ms / 60_000)} min`

/** The first and the last lines of a text. */
export function excerpt(text, first, last) {
  const lines = text.trimEnd().split('\n')
  if (lines.length <= first + last) return lines.join('\n')
  const leftOut = `… ${lines.length - first - last} more lines`
  return [...lines.slice(0, first), leftOut, ...lines.slice(lines.length - last)].join('\n')
}

/** The stages that run on an adapter where there is one. */
const GPU_STAGES = ['dawn', 'conform', 'gpu']

/** Why a run of these stages proves nothing of the kernels; undefined where it does, or where
 * nobody asked. `onGpu` has, by stage, how many tests ran on an adapter. */
export function missingGpu(stages, onGpu) {
  const asked = stages.filter((name) => GPU_STAGES.includes(name))
  if (asked.length === 0 || asked.some((name) => onGpu[name] > 0)) return undefined
  return (
    `no test ran on a GPU or a software adapter (${asked.join(', ')}), so no kernel was checked. ` +
    'Install a Chrome or Chromium, a GPU driver with Vulkan, or Mesa 24 or newer'
  )
}
