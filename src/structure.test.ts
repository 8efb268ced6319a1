// Keeps the house readable: imports inside a folder point one way, without circles, and files stay
// short.
import { readdirSync, readFileSync } from 'node:fs'
import { posix } from 'node:path'
import { expect, test } from 'vitest'

/** Folders inside a folder, in the order of imports: each may import from itself and from those
 * before it. '.' are its own files. */
const ORDER: Readonly<Record<string, string>> = {
  model: 'layout hf interventions params transformer rollout internals',
  cli: 'base options sandbox input output logs train intervene study export .',
  rl: 'math estimators losses preferences config experience learners metrics look reward train',
  document: 'content experiment presets formulas links study',
  host: 'columns content sandbox protocol checkpoints worker',
  record: 'run files diagnosis compare',
  jobs: 'settings rows reward tools scale logs .',
  page: 'state events connection contents client trials paces opened runs study',
  ui: 'kit scales shown open part lessons glossary plot gpu replay learning data look tokens inside phases settings runs study share notices forest gallery shell',
}
const MOST_LINES = 300
const MOST_FILES = 15

/** Catalogues: one long list of data each, which a cut would make harder to read. */
const CATALOGUES: readonly string[] = ['src/jobs/settings/settings.ts', 'src/ui/glossary/terms.ts']
/** Folders whose files are a list of things of one kind. */
const COLLECTIONS: readonly string[] = [
  ...['conformance', 'conformance/hf'],
  'src/document/experiment/fields',
  ...[
    'src/rl/estimators',
    'src/rl/losses',
    'src/rl/preferences/losses',
    'src/tasks/rewards',
    'src/tasks/tasks',
  ],
]

const files = ['src', 'conformance', 'tools'].flatMap((folder) =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((file) => posix.join(folder, file))
    .filter((file) => /\.tsx?$/.test(file)),
)
const others = ['e2e', 'scripts', 'tools', 'bench'].flatMap((folder) =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((file) => posix.join(folder, file))
    .filter((file) => /\.(tsx?|mjs)$/.test(file)),
)
const isProduct = (file: string) => !/\.(test|ref|setup)\.tsx?$|\/testing\.ts$/.test(file)
const product = files.filter(isProduct)
const sourceOf = new Map(files.map((file) => [file, readFileSync(file, 'utf8')]))

/** Imports as statements, and files that are loaded later: `import('…')`, `new Worker(new
 * URL('…'))`. */
const IMPORT = /^(?:import|export)\s[^'"]*?from\s+'(\.[^'?]+)/gm
const LOADED = /(?:\bimport\(|\bnew URL\()\s*'(\.[^'?]+)/g
const importsOf = (...patterns: readonly RegExp[]) =>
  new Map(
    product.map((file) => [
      file,
      patterns.flatMap((pattern) =>
        [...(sourceOf.get(file) ?? '').matchAll(pattern)].map(([, to]) =>
          posix.join(posix.dirname(file), to),
        ),
      ),
    ]),
  )
const imports = importsOf(IMPORT, LOADED)

/** Files from which a way of imports leads back to themselves, types included. */
function circular(): string[] {
  const reached = (from: string) => {
    const seen = new Set<string>()
    const open = [...(imports.get(from) ?? [])]
    for (let file = open.pop(); file; file = open.pop()) {
      if (seen.has(file)) continue
      seen.add(file)
      open.push(...(imports.get(file) ?? []))
    }
    return seen
  }
  return product.filter((file) => reached(file).has(file))
}

test('no file imports itself over others', () => {
  expect(circular()).toEqual([])
})

/** The folder of a file below one of src; '.' for a file that lies in it directly. */
const folderOf = (file: string) => (file.split('/').length > 3 ? file.split('/')[2] : '.')

test('inside a folder of src imports point to folders further left', () => {
  const up: string[] = []
  for (const [file, targets] of imports) {
    const [, home] = file.split('/')
    const order = ORDER[home]?.split(' ')
    if (!order) continue
    for (const target of targets) {
      const [, other] = target.split('/')
      if (other === home && order.indexOf(folderOf(target)) > order.indexOf(folderOf(file)))
        up.push(`${file} → ${target}`)
    }
  }
  expect(up).toEqual([])
})

test('the order names every folder, and no others', () => {
  for (const [home, order] of Object.entries(ORDER)) {
    const folders = new Set(product.filter((file) => file.startsWith(`src/${home}/`)).map(folderOf))
    expect([...folders].sort(), home).toEqual(order.split(' ').sort())
  }
})

test('a file has at most 300 lines beside its imports, tests too and catalogues apart', () => {
  const long = [...files, ...others].filter(
    (file) => linesOf(readFileSync(file, 'utf8').replace(IMPORTS, '')) > MOST_LINES,
  )
  expect(long.sort()).toEqual([...CATALOGUES].sort())
})

test('a folder holds about fifteen product files, but for collections', () => {
  const counts = new Map<string, number>()
  for (const file of product)
    counts.set(posix.dirname(file), (counts.get(posix.dirname(file)) ?? 0) + 1)
  const full = [...counts].filter(([, count]) => count > MOST_FILES).map(([folder]) => folder)
  expect(full.filter((folder) => !COLLECTIONS.includes(folder))).toEqual([])
})

/** The statements that bring names in: no reader counts them. */
const IMPORTS = /^import\s[^'"]*['"][^'"]+['"].*\n/gm
const linesOf = (text: string) => text.trimEnd().split('\n').length
