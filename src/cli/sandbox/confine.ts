// Confines the process of a guest. A program in Python can always reach the JavaScript that runs
// Pyodide, so nothing inside of the process confines it. On Linux it gets namespaces of its own: no
// network, no other process, and of the disk only Node and the system's libraries, to read.
import { spawnSync } from 'node:child_process'
import { existsSync, realpathSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** How a guest's process is started. */
export interface Confinement {
  /** What stands before Node and its arguments. */
  readonly prefix: readonly string[]
  /** Why the system does not confine it; undefined where it does. */
  readonly missing: string | undefined
}

/** Bytes of memory that a process may write to, in KiB; what V8 reserves beyond is none. */
const MOST_DATA = 1_048_576

/** Where the loader of the system looks for libraries. */
const LIBRARIES = [
  '/lib',
  '/lib32',
  '/lib64',
  '/usr/lib',
  '/usr/lib32',
  '/usr/lib64',
  '/usr/local/lib',
  '/nix/store',
  '/gnu/store',
]

/** Makes a disk of nothing but Node and libraries, and starts Node in it without any right of the
 * namespace: $1 Node, $2 folders by colons, then Node's arguments. It is mounted over /sys, which
 * is everywhere and holds no libraries. */
const ENTER = `set -e
root=/sys node=$1 folders=$2
shift 2
setpriv=$(readlink -f "$(command -v setpriv)")
mount -t tmpfs -o size=64k,nosuid,nodev none "$root"
IFS=:
for own in $folders; do
  mkdir -p "$root$own"
  mount --rbind -o ro "$own" "$root$own"
done
for own in "$node" "$setpriv" /etc/ld.so.cache; do
  [ -e "$own" ] || continue
  mkdir -p "$root\${own%/*}"
  [ -e "$root$own" ] || : > "$root$own"
  mount --bind -o ro "$own" "$root$own"
done
mount -o remount,ro "$root"
ulimit -c 0
ulimit -d ${MOST_DATA}
cd "$root"
exec env -i "$(command -v chroot)" "$root" "$setpriv" --no-new-privs --bounding-set=-all --inh-caps=-all "$node" "$@"
`

/** Ends with the process that started it; user, network, processes, disk, messages and names of its
 * own. */
const NAMESPACES = [
  'setpriv',
  '--pdeathsig',
  'KILL',
  'unshare',
  '--kill-child',
  '--propagation',
  'private',
  '--user',
  '--map-root-user',
  '--net',
  '--pid',
  '--fork',
  '--mount',
  '--ipc',
  '--uts',
]

function namespaced(): readonly string[] {
  const node = realpathSync(process.execPath)
  const folders = [...new Set([...LIBRARIES, join(dirname(dirname(node)), 'lib')])]
  return [...NAMESPACES, 'sh', '-c', ENTER, 'sh', node, folders.filter(existsSync).join(':')]
}

/** Tools of the system, wherever a person keeps them. */
export const TOOL_PATH = `/usr/sbin:/usr/bin:/sbin:/bin:${process.env.PATH ?? ''}`

/** The first process of its own namespace, without a network. */
const PROBE = `process.exit(process.pid === 1 && Object.values(require('os').networkInterfaces()).flat().length === 0 ? 0 : 1)`

/** Why a process cannot be started in namespaces of its own; undefined where it can. */
function whyNot(prefix: readonly string[]): string | undefined {
  if (process.platform !== 'linux') return `${process.platform} has no namespaces`
  const [command, ...args] = prefix
  const { status, stderr, error } = spawnSync(command, [...args, '-e', PROBE], {
    env: { PATH: TOOL_PATH },
    encoding: 'utf8',
    timeout: 20_000,
  })
  if (status === 0) return undefined
  const said = error?.message ?? stderr.trim().split('\n').at(-1)
  return `namespaces cannot be made here (${said || 'they do not confine'})`
}

/** From Node 25 on its permissions hold the network too. */
const hasNetworkPermission = () => process.allowedNodeEnvironmentFlags.has('--allow-net')

let found: Confinement | undefined

/** What this system offers; tried once. */
export function confinement(): Confinement {
  if (found) return found
  const prefix = process.platform === 'linux' ? namespaced() : []
  const why = whyNot(prefix)
  if (why === undefined) found = { prefix, missing: undefined }
  else if (hasNetworkPermission()) found = { prefix: [], missing: undefined }
  else
    found = {
      prefix: [],
      missing: `${why}, and Node ${process.versions.node} leaves the network open`,
    }
  return found
}
