// lab adapters: lists what WebGPU offers on this machine.

import { matrixBlocks } from '../kernels/device/features.ts'
import { type Command, NO_ADAPTER, NO_ADAPTER_TEXT, UsageError } from './base/command.ts'
import { dawnAdapters } from './base/dawn.ts'
import { commandLine } from './base/declare.ts'
import { print, tell } from './base/terminal.ts'
import { readArguments } from './options/read.ts'

const LINE = commandLine({
  name: 'adapters',
  takes: '',
  summary: 'lists what WebGPU offers here; the one marked * is used',
  notes: [
    'Before the name of any command, --dawn-features LIST turns toggles of Dawn on. Without vulkan_enable_f16_on_nvidia an NVIDIA GPU offers no halves on Vulkan, and no matrix units.',
  ],
  groups: {},
  examples: ['adapters', '--dawn-features vulkan_enable_f16_on_nvidia train tiny'],
})

export const adapters: Command = {
  line: LINE,
  run: async (args) => {
    if (readArguments(LINE, args).positionals.length > 0)
      throw new UsageError('adapters takes no names')
    const seen = new Set<string>()
    let used = false
    for await (const { info, driver, isSupported } of dawnAdapters()) {
      const text = info.description || info.device
      if (seen.has(text)) continue
      seen.add(text)
      const mark = isSupported && !used ? '*' : ' '
      const notes = [
        [info.vendor, info.architecture].filter(Boolean).join(' '),
        info.isFallbackAdapter ? 'software' : 'GPU',
        ...(driver ? [driver] : []),
        ...(isSupported ? [] : ['too old: Mesa 24 or newer works']),
      ]
      used ||= isSupported
      print(`${mark} ${text} (${notes.join(', ')})`)
      const blocks = matrixBlocks(info)
      if (blocks.length) print(`  matrix units: ${blocks.join(', ')}`)
    }
    if (!used) tell(NO_ADAPTER_TEXT)
    return used ? 0 : NO_ADAPTER
  },
}
