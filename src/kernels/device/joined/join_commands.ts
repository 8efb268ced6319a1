// Finds in a recorded list the dispatches that do not wait for one another, and makes one dispatch
// of them (join_kernels.ts).

import { type AnyKernel, accessOf } from '../base/kernel.ts'
import {
  asScalar,
  type Command,
  checkedGrid,
  type Dispatch,
  type LiveValues,
  readParams,
  setScalar,
} from '../base/program.ts'
import { bufferBytes, elementBytes, type Tensor } from '../base/tensor.ts'
import { bindingOf, canJoin, GRID_PARAMS, joinKernels, paramOf, sameType } from './join_kernels.ts'

/** A stretch of a buffer that a command reads or writes. */
interface Use {
  readonly tensor: Tensor
  readonly writes: boolean
  /** The part of the tensor that is written, where it is not all of it. */
  readonly part?: string | undefined
}

/** Commands that run together: one command, or dispatches that are independent of each other. */
interface Group {
  readonly commands: Command[]
  readonly uses: Use[]
}

/** How many groups back a dispatch looks for company. */
const REACH = 8

/** The same work in fewer dispatches. A dispatch moves up to an earlier one that it can run beside,
 * past commands that touch nothing that it writes and write nothing that it touches; so every value
 * is computed from the same values as before. */
export function joinCommands(commands: readonly Command[]): Command[] {
  const groups: Group[] = []
  for (const command of commands) {
    const uses = usesOf(command)
    const own: Group = { commands: [command], uses }
    const above = companyAbove(own, groups)
    const below = above ? undefined : companyBelow(own, groups)
    const group = above ?? below ?? own
    if (group !== own) add(group, own)
    if (group !== above) {
      if (below) groups.splice(groups.indexOf(below), 1)
      groups.push(group)
    }
  }
  return groups.map(({ commands: [first, ...rest] }) =>
    rest.length ? joinDispatches([first, ...rest] as Dispatch[]) : first,
  )
}

function add(group: Group, { commands, uses }: Group): void {
  group.commands.push(...commands)
  group.uses.push(...uses)
}

/** The first of the last groups beside which a command can run already. */
function companyAbove(own: Group, groups: readonly Group[]): Group | undefined {
  let found: Group | undefined
  for (let i = groups.length - 1; i >= Math.max(0, groups.length - REACH); i--) {
    if (conflict(own.uses, groups[i].uses)) break
    if (accepts(groups[i], own)) found = groups[i]
  }
  return found
}

/** The last of the last groups that can wait for a command, as nothing in between needs it done. */
function companyBelow(own: Group, groups: readonly Group[]): Group | undefined {
  const between: Use[] = []
  for (let i = groups.length - 1; i >= Math.max(0, groups.length - REACH); i--) {
    const { uses } = groups[i]
    if (!conflict(uses, between) && !conflict(uses, own.uses) && accepts(groups[i], own))
      return groups[i]
    between.push(...uses)
  }
  return undefined
}

/** Whether a group and a dispatch that is independent of it can be one dispatch. */
function accepts(group: Group, own: Group): boolean {
  const commands = [...group.commands, ...own.commands]
  const dispatches = commands.filter((command) => command.kind === 'dispatch')
  // WebGPU lets no dispatch bind a buffer both for reading and for writing, even in different
  // places.
  if (dispatches.length < commands.length || mixes(own.uses, group.uses)) return false
  const kernels = dispatches.map(({ kernel }) => kernel)
  const { bindings } = bindingsOf(dispatches)
  const written = bindings.filter(({ reads }) => !reads)
  const isTwice = written.some((a) => written.some((b) => a !== b && overlap(a.tensor, b.tensor)))
  return !isTwice && canJoin(kernels, bindings.length)
}

const mixes = (a: readonly Use[], b: readonly Use[]) =>
  a.some((x) => b.some((y) => x.tensor.buffer === y.tensor.buffer && x.writes !== y.writes))

const conflict = (a: readonly Use[], b: readonly Use[]): boolean =>
  a.some((x) =>
    b.some((y) => (x.writes || y.writes) && overlap(x.tensor, y.tensor) && !apart(x, y)),
  )

/** Whether both write parts of one tensor that have nothing in common. */
const apart = (x: Use, y: Use): boolean =>
  isSame(x.tensor, y.tensor) && x.part !== undefined && y.part !== undefined && x.part !== y.part

function overlap(a: Tensor, b: Tensor): boolean {
  if (a.buffer !== b.buffer) return false
  const [fromA, fromB] = [a, b].map(({ offset, dtype }) => offset * elementBytes(dtype))
  return fromA < fromB + bufferBytes(b) && fromB < fromA + bufferBytes(a)
}

function usesOf(command: Command): Use[] {
  if (command.kind === 'clear') return [{ tensor: command.tensor, writes: true }]
  if (command.kind === 'copy')
    return [
      { tensor: command.from, writes: false },
      { tensor: command.to, writes: true },
    ]
  const { kernel, tensors } = command
  return Object.entries(kernel.bindings).map(([name, binding]) => ({
    tensor: tensors[name],
    writes: accessOf(binding) === 'read_write',
    part: kernel.writes?.[name],
  }))
}

interface BoundTensor {
  readonly name: string
  readonly part: AnyKernel
  readonly own: string
  readonly tensor: Tensor
  readonly reads: boolean
}

/** The bindings of all, and for which of them others stand that have the same elements in the same
 * type. */
function bindingsOf(dispatches: readonly Dispatch[]): {
  bindings: BoundTensor[]
  shared: Map<string, string>
} {
  const bindings: BoundTensor[] = []
  const shared = new Map<string, string>()
  dispatches.forEach(({ kernel: part, tensors }, i) => {
    for (const [own, binding] of Object.entries(part.bindings)) {
      const [name, tensor] = [bindingOf(i, own), tensors[own]]
      const reads = accessOf(binding) === 'read'
      const same = bindings.find(
        (other) =>
          reads === other.reads &&
          isSame(other.tensor, tensor) &&
          sameType(other.part, other.own, part, own),
      )
      if (same) shared.set(name, same.name)
      else bindings.push({ name, part, own, tensor, reads })
    }
  })
  return { bindings, shared }
}

const isSame = (a: Tensor, b: Tensor) =>
  a.buffer === b.buffer && a.offset === b.offset && bufferBytes(a) === bufferBytes(b)

/** One dispatch that does what these do. */
function joinDispatches(parts: readonly Dispatch[]): Dispatch {
  const { bindings, shared } = bindingsOf(parts)
  const kernel = joinKernels(
    parts.map((part) => part.kernel),
    shared,
  )
  const params = new Uint8Array(Object.keys(kernel.params).length * 4)
  const view = new DataView(params.buffer)
  const patches: Dispatch['patches'][number][] = []
  let at = 0
  for (const [index, part] of parts.entries()) {
    params.set(part.params, at)
    for (const patch of part.patches)
      patches.push({ ...patch, name: paramOf(index, patch.name), offset: at + patch.offset })
    at += part.params.byteLength
    const gridAt = part.grid ? undefined : liveGrid(part)
    GRID_PARAMS.forEach((param, i) => {
      const [name, offset] = [paramOf(index, param), at + 4 * i]
      if (part.grid) setScalar(view, offset, 'u32', gridParams(part.grid)[i])
      else if (gridAt)
        patches.push({ name, offset, dtype: 'u32', value: (live) => gridAt(live, i) })
    })
    at += 4 * GRID_PARAMS.length
  }
  const isFixed = parts.every(({ grid }) => grid)
  const values = Object.fromEntries(
    parts.map(({ grid }, i) => [paramOf(i, 'workgroups'), grid ? gridParams(grid)[0] : 1]),
  )
  const [x, y = 1, z = 1] = kernel.workgroups(values)
  return {
    kind: 'dispatch',
    kernel,
    tensors: Object.fromEntries(bindings.map(({ name, tensor }) => [name, tensor])),
    grid: isFixed ? [x, y, z] : undefined,
    params,
    patches,
    pipeline: undefined as never,
    layout: undefined as never,
    storage: [],
  }
}

/** groups, grid_x, grid_y. */
const gridParams = ([x, y, z]: readonly [number, number, number]) => [x * y * z, x, y] as const

/** A part's grid params at live values: the first is asked for first, and works the others out
 * where something has changed. */
function liveGrid({ kernel, params, patches }: Dispatch): LiveGridParam {
  const view = new DataView(params.buffer, params.byteOffset)
  const numbers: Record<string, number> = { ...readParams(kernel.params, view, 0) }
  let grid: readonly number[] = []
  return (live, i) => {
    if (i > 0) return grid[i]
    for (const { name, dtype, value } of patches) {
      const number = asScalar(dtype, value(live))
      if (number !== numbers[name]) grid = []
      numbers[name] = number
    }
    if (grid.length === 0) grid = gridParams(checkedGrid(kernel, numbers, kernel.name))
    return grid[0]
  }
}

type LiveGridParam = (live: LiveValues<string>, i: number) => number
