// npm run gpu-report: shows what a real GPU's compiler makes of the kernels, with no GPU. Prints a
// table and what falls short of the bars; `-- --write` keeps the table in docs/log/gpu.md. Needs
// Mesa's driver for AMD (tools/gpu_report/driver.mjs) and gcc. `-- --intel` asks Mesa's compiler
// for Intel instead, which takes minutes. `-- --text NAME` prints all that a compiler is given of
// one kernel, and needs nothing.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { installMissing, ROOT } from '../scripts/project.mjs'
import { findDriver, findIntelDriver } from './gpu_report/driver.mjs'
import {
  intelShortfalls,
  intelTable,
  measure,
  measureIntel,
  shortfalls,
  tableOf,
  textOf,
} from './gpu_report/report.mjs'

const KEPT = join(ROOT, 'docs/log/gpu.md')
/** The kept tables lie between these. */
const TABLE = /(<!-- table -->\n)[\s\S]*(<!-- end -->)/
const INTEL_TABLE = /(<!-- table of Intel -->\n)[\s\S]*(<!-- end of Intel -->)/

const { values } = parseArgs({
  options: {
    intel: { type: 'boolean', default: false },
    write: { type: 'boolean', default: false },
    text: { type: 'string' },
  },
})
if (values.text !== undefined) {
  await installMissing()
  try {
    console.log(await textOf(values.text))
  } catch (error) {
    console.error(error.message)
    process.exit(1)
  }
  process.exit(0)
}
const driver = findDriver()
if (driver.path === undefined) {
  console.log(`gpu-report says nothing here: ${driver.reason}.`)
  process.exit(0)
}
await installMissing()
if (values.intel) {
  const { path, reason } = findIntelDriver(driver)
  if (path === undefined) {
    console.log(`gpu-report says nothing of Intel's GPUs here: ${reason}.`)
    process.exit(0)
  }
  const judged = await measureIntel({ path })
  show(intelTable(judged), INTEL_TABLE)
  end(intelShortfalls(judged))
} else {
  const judged = await measure(driver)
  show(tableOf(judged), TABLE)
  end(shortfalls(judged))
}

function end(short) {
  console.log(
    short.length ? `Short of the bars:\n${short.join('\n')}` : 'Nothing falls short of the bars.',
  )
  process.exitCode = short.length ? 1 : 0
}

/** Prints a table, and keeps it where that is asked. */
function show(table, place) {
  console.log(table)
  if (!values.write) return
  const text = readFileSync(KEPT, 'utf8')
  writeFileSync(
    KEPT,
    text.replace(place, (_, start, end) => `${start}\n${table}\n\n${end}`),
  )
}
