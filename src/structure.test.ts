// What keeps the house readable: imports inside rl and lab point one way, nothing goes round in circles, files stay short.
import { readdirSync, readFileSync } from 'node:fs'
import { posix } from 'node:path'
import { expect, test } from 'vitest'

/** Folders inside a folder, in the order of imports: each may import from itself and from those before it. */
const ORDER: Readonly<Record<string, string>> = {
  rl: 'math estimators losses config experience learners metrics look reward train',
  lab: 'columns content sandbox experiment presets formulas protocol links diagnosis checkpoints worker page runs jobs study',
}
const MOST_LINES = 300
const MOST_FILES = 15

/** Catalogues: one long list of data each, which a cut would make harder to read. */
const CATALOGUES: readonly string[] = ['src/lab/jobs/settings.ts', 'src/ui/glossary/terms.ts']
/** Folders whose files are a list of things of one kind. */
const COLLECTIONS: readonly string[] = [
  ...['conformance', 'conformance/hf'],
  'src/lab/experiment/fields',
  ...['src/rl/estimators', 'src/rl/losses', 'src/tasks/rewards', 'src/tasks/tasks'],
]

const files = ['src', 'conformance'].flatMap((folder) =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((file) => posix.join(folder, file))
    .filter((file) => /\.tsx?$/.test(file)),
)
const others = ['e2e', 'scripts', 'bench'].flatMap((folder) =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((file) => posix.join(folder, file))
    .filter((file) => /\.(tsx?|mjs)$/.test(file)),
)
const isProduct = (file: string) => !/\.(test|ref|setup)\.tsx?$|\/testing\.ts$/.test(file)
const product = files.filter(isProduct)
const sourceOf = new Map(files.map((file) => [file, readFileSync(file, 'utf8')]))

const IMPORT = /^(?:import|export)\s[^'"]*?from\s+'(\.[^']+)'/gm
const imports = new Map(
  product.map((file) => [
    file,
    [...(sourceOf.get(file) ?? '').matchAll(IMPORT)].map(([, to]) =>
      posix.join(posix.dirname(file), to),
    ),
  ]),
)

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

test('inside rl and lab imports point to folders further left', () => {
  const up: string[] = []
  for (const [file, targets] of imports) {
    const [, home, folder] = file.split('/')
    const order = ORDER[home]?.split(' ')
    if (!order) continue
    for (const target of targets) {
      const [, other, to] = target.split('/')
      if (other === home && order.indexOf(to) > order.indexOf(folder))
        up.push(`${file} → ${target}`)
    }
  }
  expect(up).toEqual([])
})

test('rl and lab hold the folders that the order names, and no others', () => {
  for (const [home, order] of Object.entries(ORDER)) {
    const folders = new Set(
      product.filter((file) => file.startsWith(`src/${home}/`)).map((file) => file.split('/')[2]),
    )
    expect([...folders].sort(), home).toEqual(order.split(' ').sort())
  }
})

test('a file has at most 300 lines, tests too and catalogues apart', () => {
  const long = [...files, ...others].filter(
    (file) => linesOf(readFileSync(file, 'utf8')) > MOST_LINES,
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

const linesOf = (text: string) => text.trimEnd().split('\n').length
