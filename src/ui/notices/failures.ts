// Writes one plain text for everything that can keep a person from a trained model.
import type { LabState } from '../../page/state/store.ts'

export type FailureCode = NonNullable<LabState['error']>['code']

/** What happened, why as far as is known, and what to do now. */
export interface FailureText {
  readonly title: string
  readonly cause: string
  readonly advice: readonly string[]
}

/** Advice on WebGPU for the browser that `userAgent` names. */
export function browserAdvice(userAgent: string): string {
  const isLinux = /Linux/.test(userAgent) && !/Android/.test(userAgent)
  if (/Firefox\//.test(userAgent))
    return isLinux
      ? 'Firefox on Linux has WebGPU behind a flag (dom.webgpu.enabled in about:config); a current Chrome or Edge is more reliable.'
      : 'Update Firefox: it has WebGPU on Windows from version 141 and on Apple silicon from 147 (145 on macOS 26). Chrome or Edge work too.'
  if (/Edg\/|Chrome\//.test(userAgent))
    return isLinux
      ? 'Update this browser: on Linux WebGPU is on from version 144 for Intel and 147 for NVIDIA. If it is current, open chrome://flags, enable “Unsafe WebGPU Support” and “Vulkan”, and start it again.'
      : 'Update this browser: WebGPU is on from version 113 on Windows, macOS and ChromeOS, and from 121 on Android.'
  if (/Safari\//.test(userAgent))
    return 'Update the system: Safari has WebGPU from version 26. Chrome or Edge work on a Mac too.'
  return 'Use a current Chrome, Edge, Firefox or Safari.'
}

const ACCELERATION =
  'Turn on “Use graphics acceleration when available” in the browser’s system settings, then restart the browser.'
const SMALLER =
  'Make the run smaller: fewer prompts per step or responses per prompt first, then a narrower model.'

/** What the page says of each error code; with `needsBrowser`, another browser may help too. */
const TEXTS: Readonly<Record<FailureCode, FailureText & { readonly needsBrowser?: true }>> = {
  no_webgpu: {
    title: 'This browser has no WebGPU',
    cause: 'Training runs on your GPU through WebGPU, and this browser does not offer it.',
    advice: [],
    needsBrowser: true,
  },
  insecure_origin: {
    title: 'WebGPU needs a secure address',
    cause: 'The page was opened over plain http from another machine; browsers then hide WebGPU.',
    advice: ['Open the page over https, or from this machine as http://localhost.'],
  },
  no_adapter: {
    title: 'The browser offers no GPU',
    cause:
      'WebGPU is there, but the browser found no adapter: acceleration is off, the driver is on its block list, or the GPU process has crashed too often.',
    advice: [ACCELERATION, 'Update the graphics driver.'],
    needsBrowser: true,
  },
  too_large: {
    title: 'This run is too large for the adapter',
    cause: 'It needs more memory, or one larger buffer, than the adapter allows.',
    advice: [SMALLER],
  },
  shader: {
    title: 'A shader did not compile',
    cause: 'The browser refused one of the programs that run on the GPU.',
    advice: ['Update the browser and the graphics driver.', 'Reload the page and try again.'],
  },
  validation: {
    title: 'WebGPU refused a call',
    cause: 'This is a mistake in Understory, not in your settings.',
    advice: ['Reset and try again.', 'Please report it with the message below.'],
  },
  out_of_memory: {
    title: 'The GPU has run out of memory',
    cause: 'A buffer of this run could not be allocated.',
    advice: [SMALLER, 'Close other tabs and programs that use the GPU.'],
  },
  lost: {
    title: 'The GPU was lost',
    cause: 'The driver was reset, the GPU process crashed, or the machine slept.',
    advice: [
      'Press Try again to start over with the same seed.',
      'If it happens again, wait a minute or restart the browser: it blocks the GPU after repeated crashes.',
    ],
  },
  experiment: {
    title: 'These settings cannot be run',
    cause: 'The experiment was checked before training and refused.',
    advice: ['Change the setting that the message names.'],
  },
  reward: {
    title: 'The reward cannot score',
    cause:
      'It failed on every answer that it is tried on before training, or on every response of a batch. A run that learns from nothing is ended.',
    advice: [
      'Press Compose… under the task, correct what the message names, and look at the trial there.',
    ],
  },
  memory: {
    title: 'This run needs a lot of memory',
    cause:
      'Nothing has been allocated yet. A browser does not say how much memory a GPU has, so the lab asks before it takes this much.',
    advice: [
      'Press Take … and train, if your GPU has that much to spare.',
      SMALLER,
      'Turn on gradient checkpointing: it gives the same numbers with less memory and more arithmetic.',
    ],
  },
  checkpoint: {
    title: 'The run cannot continue from there',
    cause: 'What was kept of it is damaged, of another kind, or gone.',
    advice: [
      'Take an older checkpoint of the run, from the list of runs.',
      'Or press Try again: the same seed repeats the run from its first step.',
    ],
  },
  worker: {
    title: 'The training thread has stopped',
    cause: 'The worker that trains in the background could not start, or has crashed.',
    advice: ['Reload the page and press Train.'],
  },
  internal: {
    title: 'Something went wrong inside Understory',
    cause: 'This is a mistake in the program, not in your settings.',
    advice: ['Reset and try again.', 'Please report it with the message below.'],
  },
}

/** The page's text for an error code. */
export function failureText(code: FailureCode, userAgent: string): FailureText {
  const { needsBrowser, ...text } = TEXTS[code]
  return needsBrowser ? { ...text, advice: [...text.advice, browserAdvice(userAgent)] } : text
}
