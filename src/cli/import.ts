// lab import: turns a log of another trainer into a run that the page shows beside its own.
import type { ImportedLog } from '../jobs/logs/base/imported_log.ts'
import { importedRunsText } from '../jobs/logs/run_file.ts'
import { metricCount } from '../jobs/logs/text/step_column.ts'
import { type Command, LabFailure, UsageError } from './base/command.ts'
import { commandLine, list, text } from './base/declare.ts'
import { replaceFile } from './base/disk.ts'
import { print, tell } from './base/terminal.ts'
import { readSource } from './logs/log_source.ts'
import { readArguments } from './options/read.ts'

const LINE = commandLine({
  name: 'import',
  takes: '<file or folder of a log>',
  summary: 'makes a log of verl, TRL, TensorBoard or W&B a run that the page shows',
  groups: {
    Options: {
      out: text('FILE', 'the run, to be dropped onto the page'),
      run: list('NAME', 'this run of a log that holds several; repeatable'),
    },
  },
  examples: ['import outputs/metrics.jsonl --out run.jsonl', 'import train.log --out run.jsonl'],
})

export const importRun: Command = {
  line: LINE,
  run: async (args) => {
    const { source, out, run } = readOptions(args)
    const logs = await readSource(source, run)
    for (const log of logs)
      for (const remark of log.remarks) tell(log.run === '' ? remark : `${log.run}: ${remark}`)
    try {
      replaceFile(out, importedRunsText(logs))
    } catch (error) {
      throw new LabFailure(`--out: ${error instanceof Error ? error.message : error}`)
    }
    print(wrote(out, logs))
    return 0
  },
}

/** What was written; of several runs each by its name. */
function wrote(out: string, logs: readonly ImportedLog[]): string {
  const words = ({ step, series }: ImportedLog) =>
    `${step} steps, ${metricCount(series.keys())} metrics`
  if (logs.length === 1 && logs[0].run === '') return `Wrote ${out}: ${words(logs[0])}`
  return [
    `Wrote ${out}: ${logs.length} ${logs.length === 1 ? 'run' : 'runs'}`,
    ...logs.map((log) => `  ${log.run}: ${words(log)}`),
    ...(logs.length > 1 ? ['--run NAME takes one of them, also several times.'] : []),
  ].join('\n')
}

function readOptions(args: readonly string[]) {
  const { values, positionals } = readArguments(LINE, args)
  if (positionals.length !== 1) throw new UsageError('import takes one file or folder')
  if (!values.out) throw new UsageError('import needs --out FILE')
  return { source: positionals[0], out: values.out, run: values.run ?? [] }
}
