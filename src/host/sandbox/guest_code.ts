// Holds the texts that run inside a sandbox: the guest, and what connects it to its worker or
// process.
import { VERL_NAMES } from '../../tasks/rewards/signature.ts'
import forms from './guest/forms.py?raw'
import guest from './guest/guest.js?raw'
import inside from './guest/inside.js?raw'
import process from './guest/process.js?raw'
import program from './guest/program.py?raw'
import quickjs from './guest/quickjs.js?raw'
import standIns from './guest/stand_ins.py?raw'
import worker from './guest/worker.js?raw'

/** In a function of its own, so that a program sees none of it. */
const closed = (...texts: string[]) => `(() => {\n${texts.join('\n')}\n})()`

/** A table of texts reads alike in JSON and in Python. */
const names = `VERL_NAMES = ${JSON.stringify(VERL_NAMES)}`
/** What runs in Pyodide. */
export const PYTHON_CODE = [program, names, forms, standIns].join('\n')
const python = `const PYTHON = ${JSON.stringify(PYTHON_CODE)}`
const script = `const INSIDE_TEXT = ${JSON.stringify(inside)}`
const served = [python, script, guest, quickjs]

/** For a worker of the sandbox frame. */
export const WORKER_CODE = closed(...served, worker)
/** For a process of Node. */
export const PROCESS_CODE = closed(...served, process)
