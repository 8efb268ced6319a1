// Draws the picture of the imports of src: which folder imports which, how often, and what points
// the wrong way. Run: node tools/imports.mjs [folder]
//   node tools/imports.mjs            the folders of src
//   node tools/imports.mjs src/ui     the folders of src/ui
import { readdirSync, readFileSync } from 'node:fs'
import { posix } from 'node:path'
import { fileURLToPath } from 'node:url'

const IS_PRODUCT = /^(?!.*(\.(test|ref|setup)\.tsx?|\/testing\.tsx?)$).*\.tsx?$/
/** Statements, files that are loaded later, and workers. */
const IMPORT = /(?:^(?:import|export)\s[^'"]*?from\s+|\bimport\(\s*|\bnew URL\(\s*)'(\.[^'?]+)/gm

/** Product files below a folder, with what each imports: `file` → files. */
export function importsBelow(folder) {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((file) => posix.join(folder, file.replaceAll('\\', '/')))
    .filter((file) => IS_PRODUCT.test(file))
  return new Map(
    files.map((file) => [
      file,
      Array.from(readFileSync(file, 'utf8').matchAll(IMPORT), ([, to]) =>
        posix.join(posix.dirname(file), to),
      ).filter((to) => /\.tsx?$/.test(to)),
    ]),
  )
}

/** The folder directly below `root` in which a file lies; '.' where it lies in root itself. */
const folderOf = (root, file) => {
  const path = file.slice(root.length + 1).split('/')
  return path.length > 1 ? path[0] : '.'
}

/** Arrows between the folders of `root`: `from` → `to` → number of imports. */
export function arrowsOf(root, imports = importsBelow(root)) {
  const arrows = new Map()
  for (const [file, targets] of imports)
    for (const target of targets) {
      if (!target.startsWith(`${root}/`)) continue
      const [from, to] = [folderOf(root, file), folderOf(root, target)]
      if (from === to) continue
      const out = arrows.get(from) ?? new Map()
      out.set(to, (out.get(to) ?? 0) + 1)
      arrows.set(from, out)
    }
  return arrows
}

/** An order in which no arrow points to the right; what is left in a circle comes last, as
 * `rest`. */
export function ordered(folders, arrows) {
  const order = []
  let open = [...folders]
  for (;;) {
    const free = open.filter((folder) =>
      [...(arrows.get(folder)?.keys() ?? [])].every((to) => order.includes(to)),
    )
    if (free.length === 0) return { order, rest: open }
    order.push(...free)
    open = open.filter((folder) => !free.includes(folder))
  }
}

/** Pairs of folders that import each other. */
export const mutualPairs = (arrows) =>
  [...arrows].flatMap(([from, out]) =>
    [...out.keys()]
      .filter((to) => from < to && arrows.get(to)?.has(from))
      .map((to) => `${from} ↔ ${to}`),
  )

function print(root) {
  const imports = importsBelow(root)
  const arrows = arrowsOf(root, imports)
  const folders = [...new Set([...imports.keys()].map((file) => folderOf(root, file)))]
  const lines = (folder) =>
    [...imports.keys()]
      .filter((file) => folderOf(root, file) === folder)
      .reduce((sum, file) => sum + readFileSync(file, 'utf8').split('\n').length - 1, 0)
  const { order, rest } = ordered(folders, arrows)
  for (const folder of [...order, ...rest]) {
    const out = [...(arrows.get(folder) ?? [])].map(([to, count]) => `${to} ${count}`)
    console.log(`${folder.padEnd(12)}${String(lines(folder)).padStart(7)}  → ${out.join(', ')}`)
  }
  const count = [...arrows.values()].reduce((sum, out) => sum + out.size, 0)
  const pairs = mutualPairs(arrows)
  console.log(`${count} arrows, ${pairs.length} pairs that import each other`)
  for (const pair of pairs) console.log(`  ${pair}`)
  if (rest.length > 0) console.log(`In or behind a circle: ${rest.join(' ')}`)
}

if (process.argv[1] === fileURLToPath(import.meta.url)) print(process.argv[2] ?? 'src')
