"""Shows what NVIDIA's own compiler makes of the staged products, with no GPU: python3
tools/gpu_report/nvidia_code.py [PATTERN], after `npm run gpu-report`, which writes their WGSL.

Their WGSL is written over as CUDA: the same statements in other words. The driver's compiler takes
another way in, so this tells what the hardware's instructions allow, not what the driver does.
Needs NVRTC (pip install nvidia-cuda-nvrtc; NVRTC names its library where it lies elsewhere, and
LD_LIBRARY_PATH its folder) and nvdisasm (in the wheel of triton; NVDISASM names it).
"""

import ctypes
import json
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

KERNELS = Path(__file__).parents[2] / 'dist/gpu_report/kernels.json'
ARCH = os.environ.get('ARCH', 'sm_90')
STAGED = re.compile(r'^matmul_(nn|nt|tn)_(staged_\w+)$')
# Of a multiprocessor of compute capability 9.0.
REGISTERS, MEMORY, MOST_WARPS, MOST_GROUPS = 65536, 233472, 64, 32

WORDS = """
typedef unsigned int u32;
struct Params { u32 m, n, k, accumulate; };
#define F __device__ __forceinline__ float4
F vec4f() { return make_float4(0, 0, 0, 0); }
F vec4f(float x) { return make_float4(x, x, x, x); }
F vec4f(float x, float y, float z, float w) { return make_float4(x, y, z, w); }
F operator*(float s, float4 v) { return make_float4(s * v.x, s * v.y, s * v.z, s * v.w); }
F operator+(float4 a, float4 b) { return make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w); }
__device__ __forceinline__ void operator+=(float4& a, float4 b) { a = a + b; }
F fma(float4 a, float4 b, float4 c) {
  return make_float4(
    fmaf(a.x, b.x, c.x), fmaf(a.y, b.y, c.y), fmaf(a.z, b.z, c.z), fmaf(a.w, b.w, c.w));
}
"""

FRAME = """
extern "C" __global__ void __launch_bounds__(%d) product(
  const float4* __restrict__ a, const float4* __restrict__ b, float4* __restrict__ out,
  const Params params) {
__shared__ float4 staged[%d];
const u32 lane = threadIdx.x;
const auto n_vectors = params.n / 4u;
auto adds = [&]() { return params.accumulate == 1u; };
auto before = [&](u32 row, u32 vector) { return out[row * n_vectors + vector]; };
auto put = [&](u32 row, u32 vector, float4 value) { out[row * n_vectors + vector] = value; };
auto store = [&](u32 row, u32 vector, float4 value) {
  if (row >= params.m || vector >= n_vectors) return;
  put(row, vector, adds() ? before(row, vector) + value : value);
};
"""


def as_cuda(wgsl):
    """CUDA of a staged product's WGSL, its lanes, and the bytes of its shared memory."""
    lanes = int(re.search(r'@workgroup_size\((\d+)\)', wgsl)[1])
    vectors = int(re.search(r'staged: array<vec4f, (\d+)>', wgsl)[1])
    body = wgsl[wgsl.index('@compute') :].split(') {', 1)[1].split('struct Params')[0]
    for pattern, words in [
        (r'//.*', ''),
        (r'workgroupBarrier\(\)', '__syncthreads()'),
        (r'for \(var (\w+) = ', r'for (u32 \1 = '),
        (r'\blet (\w+) =', r'const auto \1 ='),
        (r'\bvar (\w+) =', r'auto \1 ='),
        (r'group\.', 'blockIdx.'),
        (r'grid\.', 'gridDim.'),
        (r'staged\[(.*?)\]\[(.*?)\] =', r'((float*)&staged[\1])[\2] ='),
    ]:
        body = re.sub(pattern, words, body)
    return WORDS + FRAME % (lanes, vectors) + body, lanes, 16 * vectors


def compile_cuda(nvrtc, source):
    """The machine code of a CUDA source, as a cubin. Raises SystemExit with what NVRTC says."""
    program, size = ctypes.c_void_p(), ctypes.c_size_t()
    nvrtc.nvrtcCreateProgram(ctypes.byref(program), source.encode(), b'product.cu', 0, None, None)
    options = (ctypes.c_char_p * 2)(f'--gpu-architecture={ARCH}'.encode(), b'-w')
    failed = nvrtc.nvrtcCompileProgram(program, 2, options)
    what = 'ProgramLog' if failed else 'CUBIN'
    getattr(nvrtc, f'nvrtcGet{what}Size')(program, ctypes.byref(size))
    out = ctypes.create_string_buffer(size.value)
    getattr(nvrtc, f'nvrtcGet{what}')(program, out)
    if failed:
        raise SystemExit(out.value.decode())
    return out.raw


def read_code(cubin):
    """The registers of a lane, and the instructions of the block with the most multiply-adds."""
    with tempfile.NamedTemporaryFile(suffix='.cubin') as file:
        file.write(cubin)
        file.flush()
        command = [os.environ.get('NVDISASM', 'nvdisasm'), '-c', file.name]
        text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    registers = 1 + max(int(name) for name in re.findall(r'\bR(\d+)\b', text))
    blocks = [Counter()]
    for line in text.splitlines():
        if line.startswith('.L_'):
            blocks.append(Counter())
        found = re.search(r'/\*[0-9a-f]{4,}\*/\s+(?:@!?U?P\w+\s+)?([A-Z]\w*)', line)
        if found:
            blocks[-1][found[1]] += 1
    return registers, max(blocks, key=lambda block: block['FFMA'])


def main():
    nvrtc = ctypes.CDLL(os.environ.get('NVRTC', 'libnvrtc.so'))
    pattern = re.compile(sys.argv[1] if len(sys.argv) > 1 else '')
    print('| product | registers | warps | FFMA | of | share | shared loads | barriers |')
    print('| --- | --: | --: | --: | --: | --: | --: | --: |')
    for kernel in json.loads(KERNELS.read_text()):
        name = kernel['name']
        if not STAGED.match(name) or not pattern.search(name) or '_by_' in name:
            continue
        source, lanes, memory = as_cuda(kernel['wgsl'])
        registers, block = read_code(compile_cuda(nvrtc, source))
        group = lanes // 32
        by_registers = REGISTERS // (-(-registers // 8) * 8 * lanes)
        groups = min(by_registers, MEMORY // (memory + 1024), MOST_WARPS // group, MOST_GROUPS)
        fmas, all_of = block['FFMA'], sum(block.values())
        row = [name, registers, groups * group, fmas, all_of, f'{100 * fmas // all_of} %']
        print('|', ' | '.join(map(str, [*row, block['LDS'], block['BAR']])), '|', flush=True)


if __name__ == '__main__':
    main()
