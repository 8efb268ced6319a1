// Runs golden data case by case: fixtures of verl's functions, Hugging Face models and tokenizers,
// and runs of PEFT, of TRL's trainer and of BuPO's fork.
import { basename, relative, resolve } from 'node:path'
import { type Context, fixtureResults, type Handler } from './base/fixture.ts'
import { type Check, type Result, runCheck } from './base/report.ts'
import { bupoCase } from './bupo/bupo_cases.ts'
import { depthCases } from './depth/depth_cases.ts'
import { distillTraceCase } from './distill/trace_cases.ts'
import { peftCase } from './hf/peft_cases.ts'
import { hfCase } from './hf_cases.ts'
import { interventionCase } from './intervention_cases.ts'
import { namesCase } from './names/names_cases.ts'
import { preferenceTraceCase } from './preference/trace_cases.ts'
import type { Source } from './sources.ts'
import { tokenizerCase } from './tokenizer_cases.ts'
import { trlCase } from './trl/trl_cases.ts'
import { VERL_CASES } from './verl_cases.ts'

/** How each kind of golden data is run; a parameter so that tests need no golden data. */
interface Runners {
  readonly verl: Readonly<Record<string, Handler>>
  readonly hf: (folder: string, context: Context) => AsyncIterable<Check>
  readonly peft: (folder: string, context: Context) => AsyncIterable<Check>
  readonly bupo: (file: string, context: Context) => AsyncIterable<Check>
  readonly interventions: (folder: string, context: Context) => AsyncIterable<Check>
  readonly preference: (folder: string, context: Context) => AsyncIterable<Check>
  readonly depth: (folder: string, context: Context) => AsyncIterable<Check>
  readonly distill: (folder: string, context: Context) => AsyncIterable<Check>
  readonly trl: (folder: string, context: Context) => AsyncIterable<Check>
  readonly tokenizer: (folder: string) => AsyncIterable<Check>
  readonly names: (file: string) => AsyncIterable<Check>
}

const RUNNERS: Runners = {
  verl: VERL_CASES,
  hf: hfCase,
  peft: peftCase,
  bupo: bupoCase,
  interventions: interventionCase,
  preference: preferenceTraceCase,
  depth: depthCases,
  distill: distillTraceCase,
  trl: trlCase,
  tokenizer: tokenizerCase,
  names: namesCase,
}

/** Runs sources one after another. Never throws: what goes wrong with one is a failure, and the
 * next one follows. */
export async function* resultsOf(
  sources: readonly Source[],
  context: Context,
  {
    verl,
    hf,
    peft,
    bupo,
    interventions,
    preference,
    depth,
    distill,
    trl,
    tokenizer,
    names,
  }: Runners = RUNNERS,
): AsyncGenerator<Result> {
  for (const source of sources) {
    if (source.kind === 'fixture') yield* fixtureResults(source.file, verl, context)
    else if (source.kind === 'model') yield* folderResults(source.folder, hf, context)
    else if (source.kind === 'peft') yield* folderResults(source.folder, peft, context)
    else if (source.kind === 'bupo') yield* folderResults(source.file, bupo, context)
    else if (source.kind === 'interventions')
      yield* folderResults(source.folder, interventions, context)
    else if (source.kind === 'preference') yield* folderResults(source.folder, preference, context)
    else if (source.kind === 'depth') yield* folderResults(source.folder, depth, context)
    else if (source.kind === 'distill') yield* folderResults(source.folder, distill, context)
    else if (source.kind === 'trl') yield* folderResults(source.folder, trl, context)
    else if (source.kind === 'tokenizer') yield* folderResults(source.folder, tokenizer, context)
    else if (source.kind === 'names') yield* folderResults(source.file, names, context)
    else if (source.kind === 'later') yield { case: source.name, status: 'later' }
    else {
      const name = relative('.', source.file) || source.file
      yield { case: name, status: 'FAIL', problem: `unknown: ${source.problem}` }
    }
  }
}

async function* folderResults(
  folder: string,
  checks: Runners['hf'],
  context: Context,
): AsyncGenerator<Result> {
  const name = basename(resolve(folder))
  let count = 0
  try {
    for await (const check of checks(folder, context)) {
      count++
      yield runCheck(check)
    }
  } catch (error) {
    count++
    const problem = error instanceof Error ? `${error.name}: ${error.message}` : `${error}`
    yield { case: name, status: 'FAIL', problem }
  }
  if (count === 0) yield { case: name, status: 'FAIL', problem: 'nothing in it was checked' }
}
