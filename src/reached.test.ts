// Code that nothing reaches is a claim that nobody keeps: what a file exports is used by product
// code, or named here with a reason. And a style sheet is where a file looks for it.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { posix } from 'node:path'
import { expect, test } from 'vitest'

/** Exports that product code has no use for, and why they are there. */
const UNREACHED: Readonly<Record<string, string>> = {
  'conformance/base/report.ts compare': 'tests compare single values',
  'tools/soak/slope.ts fitSlope': 'tools/soak.mjs bundles it',
  'src/kernels/softmax/softmax.ts softmax_backward': 'the worked example of CONTRIBUTING.md',
  'src/kernels/softmax/softmax.ts softmax_forward': 'the worked example of CONTRIBUTING.md',
  'src/record/diagnosis/broken_runs.ts BROKEN_RUNS': 'tests train what findings are about',
  // Checked against the original by `lab conform`; no phase selects it.
  'src/model/interventions/transplant.ts inBlock': 'golden mixtures',
  'src/kernels/policy_loss/loss_weights.ts aggregationParams': 'several ranks',
  'src/kernels/vocab_head/scored.ts ScoredTokens': 'the list as references take it',
  'src/model/layout/params.ts unpackWeights': 'golden weights have names',
  'src/page/connection/connection.ts eventsLoaded': 'tests wait for what a page need not wait for',
  'src/rl/metrics/aggregate.ts aggregateRanks': 'several ranks',
  'src/rl/math/balance.ts dynamicMicroBatches': 'micro-batches by tokens; the lab cuts equal ones',
  'src/rl/experience/batch.ts attentionResponseMask': 'a mask from lengths; the lab has end tokens',
  'src/rl/math/masked.ts maskedMeanColumns': 'means along the first axis',
  'src/rl/config/schedule.ts wsdMultiplier': 'a schedule that no setting of verl selects either',
}

const isTest = (file: string) =>
  /\.(test|ref|setup|spec)\.tsx?$/.test(file) || file.endsWith('/testing.ts')
const isConform = (file: string) => file.startsWith('conformance/')

const sourcesOf = (folder: string) =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.(tsx?|mjs)$/.test(file))
    .map((file) => posix.join(folder, file))

const COMMENT = /\/\*[\s\S]*?\*\/|(?<=^|[\s;])\/\/.*$/gm
/** A name in a text is no use of it. */
const TEXT = /'[^'\n]*'/g
const sources = new Map(
  ['src', 'conformance', 'tools', 'bench', 'e2e', 'scripts']
    .flatMap(sourcesOf)
    .map((file) => [file, readFileSync(file, 'utf8').replace(COMMENT, '')] as const),
)

const IMPORT = /(?:import|export)\s+(?:type\s+)?(\*\s+as\s+\w+|\{[^}]*\})\s*from\s*'(\.[^']+)'/g
const LOADED = /(?:const\s+)?(\{[^}]*\})?\s*=?\s*(?:await\s+)?import\('(\.[^']+)'\)/g
const EXPORT =
  /^export\s+(?:async\s+)?(const|let|function\*?|class|interface|type)\s+(\w+)(?=[\s(<:=,;])/gm
const ALL = '*'

/** Who imports what: `file name` → the files that do. */
function importers(): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, string[]>()
  for (const [file, source] of sources)
    for (const pattern of [IMPORT, LOADED])
      for (const [, what = ALL, from] of source.matchAll(pattern)) {
        const names = what.startsWith('{')
          ? (what.match(/(?:type\s+)?[\w$]+(?:(?:\s+as|:)\s+\w+)?/g) ?? [])
          : [ALL]
        for (const name of names) {
          const [own] = name.replace(/^type\s+/, '').split(/\s+as\s+|:\s*/)
          const key = `${posix.join(posix.dirname(file), from)} ${own}`
          found.set(key, [...(found.get(key) ?? []), file])
        }
      }
  return found
}

const exported = [...sources]
  .filter(([file]) => /^(src|conformance)\/|^tools\/.*\.tsx?$/.test(file) && !isTest(file))
  .flatMap(([file, source]) =>
    [...source.matchAll(EXPORT)].map(([, kind, name]) => ({ file, source, kind, name })),
  )
  // The compiler imports what makes elements.
  .filter(({ file }) => !file.startsWith('src/ui/kit/jsx/'))
  // src/kernels/kernels.test.ts finds kernels, which are snake_case, and `variants` by themselves.
  .filter(({ file, name }) => !(file.startsWith('src/kernels/') && name === 'variants'))
const imported = importers()
const by = (file: string, name: string) => [
  ...(imported.get(`${file} ${name}`) ?? []),
  ...(imported.get(`${file} ${ALL}`) ?? []),
]
const timesIn = (source: string, name: string) =>
  source.replace(TEXT, "''").match(new RegExp(`(?<![\\w$])${name}(?![\\w$])`, 'g'))?.length ?? 0

test('what a file exports is used by product code, or has a reason not to be', () => {
  const unreached = exported.filter(({ file, source, name }) => {
    const users = by(file, name).filter(
      (user) =>
        !isTest(user) && !/^(bench|e2e)\//.test(user) && (isConform(file) || !isConform(user)),
    )
    return users.length === 0 && timesIn(source, name) < 2
  })
  expect(unreached.map(({ file, name }) => `${file} ${name}`).sort()).toEqual(
    Object.keys(UNREACHED).sort(),
  )
})

test('a value is exported for somebody', () => {
  const isKernel = (file: string, name: string) =>
    file.startsWith('src/kernels/') && /^[a-z0-9]+(_[a-z0-9]+)+$/.test(name)
  const alone = exported.filter(
    ({ file, kind, name }) =>
      kind !== 'type' &&
      kind !== 'interface' &&
      !isKernel(file, name) &&
      by(file, name).length === 0,
  )
  expect(alone.map(({ file, name }) => `${file} ${name}`)).toEqual([])
})

test('a use is found in every form that an import has', () => {
  expect(by('src/document/presets/presets.ts', 'PRESETS')).toContain('src/ui/learning/Intro.tsx')
  expect(by('src/record/files/recording.ts', 'readRecording')).toContain(
    'src/page/connection/shipped_recording.ts',
  )
  expect(by('src/ui/kit/format.ts', 'nothing of this name')).toEqual(['src/ui/kit/format.test.ts'])
  expect(timesIn('a.b(ab, b_)', 'b')).toBe(1)
})

// No type says that it is not there, and only the build would fail.
test('a style sheet is where it is imported from', () => {
  const lost = [...sources].flatMap(([file, source]) =>
    [...source.matchAll(/^import '(\.[^']+\.css)'/gm)]
      .map(([, sheet]) => posix.join(posix.dirname(file), sheet))
      .filter((sheet) => !existsSync(sheet))
      .map((sheet) => `${file}: ${sheet}`),
  )
  expect(lost).toEqual([])
})
