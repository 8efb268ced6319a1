// npm run python-modules [-- --from DIR]: fetches the modules that programs in Python may import
// (src/host/sandbox/modules/offered.json) from the release of the installed Pyodide, or takes them
// from a folder, and puts them where the page's build and the command line find them. Every file
// has the hash that Pyodide's lock file names. Of a folder, a wheel of pure Python may be another
// build of the same version.
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { ROOT } from './project.mjs'

const MODULES = join(ROOT, 'src/host/sandbox/modules')
const PYODIDE = join(ROOT, 'node_modules/pyodide')
const json = (path) => JSON.parse(readFileSync(path, 'utf8'))

/** Offered packages and what they depend on. */
function wanted(packages) {
  const found = new Map()
  const add = (name) => {
    if (found.has(name)) return
    found.set(name, packages[name])
    packages[name].depends.forEach(add)
  }
  Object.keys(json(join(MODULES, 'offered.json'))).forEach(add)
  return [...found]
}

/** Where the installed Pyodide looks for its packages. */
function releaseOf({ version }) {
  const [, address] =
    /"?(https:\/\/[^"`$]+\/v)\$\{/.exec(readFileSync(join(PYODIDE, 'pyodide.mjs'), 'utf8')) ?? []
  if (!address)
    throw new Error('the address of the release is not in node_modules/pyodide/pyodide.mjs')
  return `${address}${version}/full/`
}

async function bytesOf(file, folder, release) {
  if (folder !== undefined)
    return existsSync(join(folder, file)) ? readFileSync(join(folder, file)) : undefined
  const answer = await fetch(release + file)
  if (!answer.ok) throw new Error(`${release}${file}: ${answer.status}`)
  return Buffer.from(await answer.arrayBuffer())
}

const hashOf = (bytes) => createHash('sha256').update(bytes).digest('hex')

async function main() {
  const { values } = parseArgs({ options: { from: { type: 'string' } } })
  const { packages } = json(join(PYODIDE, 'pyodide-lock.json'))
  const release = values.from === undefined ? releaseOf(json(join(PYODIDE, 'package.json'))) : ''
  const wheels = join(MODULES, 'wheels')
  mkdirSync(wheels, { recursive: true })
  let failed = 0
  for (const [name, { file_name, sha256 }] of wanted(packages)) {
    const path = join(wheels, file_name)
    if (existsSync(path) && hashOf(readFileSync(path)) === sha256) {
      console.log(`${name}: here`)
      continue
    }
    const bytes = await bytesOf(file_name, values.from, release)
    if (!bytes) {
      console.log(`${name}: ${values.from} has no ${file_name}`)
      continue
    }
    const isSame = hashOf(bytes) === sha256
    if (!isSame && !(values.from !== undefined && file_name.endsWith('-none-any.whl'))) {
      console.error(`${name}: expected sha256 ${sha256}, found ${hashOf(bytes)}; it is left out`)
      failed++
      continue
    }
    writeFileSync(path, bytes)
    const note = isSame ? '' : ', another build than Pyodide’s'
    console.log(`${name}: ${(bytes.length / 1e6).toFixed(1)} MB${note}`)
  }
  process.exit(failed > 0 ? 1 : 0)
}
await main()
