// Collects what a report needs from this page, and copies it.
import { version } from '../../../package.json'
import { browserName } from '../../document/links/names.ts'
import { PROTOCOL_VERSION } from '../../host/protocol/protocol.ts'
import { libraryStore } from '../../page/runs/library/library_store.ts'
import type { PageError } from '../../page/state/report.ts'
import { labStore } from '../../page/state/store.ts'
import { saveFile } from '../kit/save.ts'
import { showToast } from '../shown/store.ts'

/** Errors that are remembered, and characters of each. */
export const MAX_ERRORS = 10
export const MAX_ERROR_LENGTH = 500

/** The last errors with one more; a repetition of the newest changes nothing. */
export function withError(
  errors: readonly PageError[],
  atS: number,
  message: string,
): readonly PageError[] {
  const short = message.slice(0, MAX_ERROR_LENGTH)
  if (short === '' || errors.at(-1)?.message === short) return errors
  return [...errors, { atS, message: short }].slice(-MAX_ERRORS)
}

let errors: readonly PageError[] = []

/** Puts what went wrong into the next report. */
export function rememberError(message: string): void {
  errors = withError(errors, performance.now() / 1000, message)
}

/** Remembers what goes wrong from now on. To be called once per page. */
export function rememberErrors(): void {
  addEventListener('error', ({ message }) => rememberError(message))
  addEventListener('unhandledrejection', ({ reason }) =>
    rememberError(reason instanceof Error ? `${reason.name}: ${reason.message}` : String(reason)),
  )
  labStore.subscribe(({ error }, before) => {
    if (error && error !== before.error) rememberError(`${error.code}: ${error.message}`)
  })
  libraryStore.subscribe(({ problem }, before) => {
    if (problem !== before.problem) rememberError(problem)
  })
}

const errorsAlone = () =>
  [`Understory ${version}`, ...errors.map(({ message }) => message)].join('\n')

/** The report as it is now. */
export async function pageReport(): Promise<string> {
  const { usage, quota } = (await navigator.storage?.estimate?.().catch(() => undefined)) ?? {}
  // Loaded with the first report; where even that is gone, the errors are what matters.
  const load = import('../../page/state/report.ts').catch(() => undefined)
  const { writeReport } = (await load) ?? { writeReport: () => errorsAlone() }
  return writeReport(labStore.getState(), {
    understory: version,
    protocol: PROTOCOL_VERSION,
    browser: browserName(navigator.userAgent),
    hasWebgpu: 'gpu' in navigator,
    isSecure: isSecureContext,
    isIsolated: crossOriginIsolated,
    storage: usage !== undefined && quota !== undefined ? { usage, quota } : undefined,
    errors,
  })
}

/** Puts the report on the clipboard, or where that is closed, into a file. */
export async function copyReport(): Promise<void> {
  const report = await pageReport()
  try {
    await navigator.clipboard.writeText(report)
    showToast('Report copied: versions, adapter, experiment and last errors. Nothing about you.')
  } catch {
    saveFile('understory-report.txt', new Blob([report], { type: 'text/plain' }))
    showToast('The browser does not allow copying. The report was saved as a file.')
  }
}
