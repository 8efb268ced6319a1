// A copy of the tree to which recipes of CONTRIBUTING.md are applied, and what may be asked of it.
import { execFile } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createServer } from 'vite'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

/** What tsconfig.json names, without data. */
const COMPILED = [
  'src',
  'conformance',
  'tools',
  'e2e',
  'bench',
  'vite.config.ts',
  'playwright.config.ts',
  'tsconfig.json',
  'package.json',
  'index.html',
]

/** The file and the line of each recipe in a copy of the tree; `destroy` removes it. */
export async function treeWith(recipes) {
  const root = mkdtempSync(join(tmpdir(), 'understory-recipes-'))
  for (const part of COMPILED)
    cpSync(join(ROOT, part), join(root, part), {
      recursive: true,
      filter: (path) => !/conformance.fixtures|bench.results/.test(path),
    })
  symlinkSync(join(ROOT, 'node_modules'), join(root, 'node_modules'))
  for (const recipe of recipes) apply(root, recipe)
  // It works beside everything else.
  const errors = compilerErrors(root)
  const server = await createServer({
    root,
    configFile: false,
    logLevel: 'error',
    appType: 'custom',
    server: { middlewareMode: true, ws: false, watch: null },
    optimizeDeps: { noDiscovery: true },
  })
  return {
    /** A module of the copy, by its path in src. */
    load: (path) => server.ssrLoadModule(`/src/${path}`),
    /** What the compiler says about the copy; '' where it has no objection. */
    compilerErrors: () => errors,
    destroy: async () => {
      await server.close()
      rmSync(root, { recursive: true, force: true })
    },
  }
}

/** The new file, and in the list one entry with its import. Throws where the list has not the entry
 * that it follows. */
function apply(root, { file, text, list, import: imported, after, line }) {
  writeFileSync(join(root, file), text, { flag: 'wx' })
  const path = join(root, list)
  const source = readFileSync(path, 'utf8')
  if (!source.includes(after)) throw new Error(`${list}: expected the entry ${after}`)
  const listed = source.replace(after, `${after}\n${line}`)
  // Behind the comment at the head of the file.
  writeFileSync(path, listed.replace(/^import /m, `${imported}\nimport `))
}

const compilerErrors = (root) =>
  new Promise((resolve) => {
    const tsc = join(ROOT, 'node_modules/typescript/bin/tsc')
    execFile(process.execPath, [tsc, '--noEmit', '-p', root], (error, output, stderr) => {
      resolve(error ? `${output}${stderr}` || error.message : '')
    })
  })
