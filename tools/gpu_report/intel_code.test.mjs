import { expect, test } from 'vitest'
import { judgeIntel } from './intel_code.mjs'

const HEAD = (lanes, spills) =>
  `SIMD${lanes} shader: 9 instructions. 2 loops. 99 cycles. ${spills}:${spills} spills:fills, 1 sends, scheduled with mode top-down.`
const CODE = `   START B0 (2 cycles)
mov(16)         g3<1>F          0x0F                            { align1 1H };

LABEL2:
LABEL1:
send(16)        g16UD           g27UD           nullUD          0x04205e02                0x00000000
                            dp data 1 MsgDesc: (untyped surface read)  mlen 2 ex_mlen 0 rlen 2 { align1 1H @5 $1 };
mad(16)         g35<1>F         g35<8,8,1>F     g16<8,8,1>F     g37.0<0,1,0>F { align1 1H $1.dst compacted };
sync nop(1)                     null<0,1,0>UB                   { align1 WE_all 1N @7 };
mad(16)         g36<1>F         g36<8,8,1>F     g16<8,8,1>F     g38.0<0,1,0>F { align1 1H };
while(16)       JIP:  LABEL1                                    { align1 1H };
mad(16)         g37<1>F         g36<8,8,1>F     g16<8,8,1>F     g38.0<0,1,0>F { align1 1H };
(+f0.0) while(16) JIP:  LABEL2                                  { align1 1H };
   END B1
`

test('the loop that holds no other: its multiply-adds among what it issues', () => {
  const { lanes, spilled, fmas, share } = judgeIntel(`NIR\n${HEAD(16, 0)}\n${CODE}`)
  expect({ lanes, spilled, fmas, share }).toEqual({ lanes: 16, spilled: 0, fmas: 2, share: 2 / 4 })
})

test('the width that was printed last, with what it spilled', () => {
  const { lanes, spilled } = judgeIntel(`${HEAD(8, 0)}\n${CODE}${HEAD(16, 7)}\n${CODE}`)
  expect({ lanes, spilled }).toEqual({ lanes: 16, spilled: 14 })
})

test('no code, nothing said', () => {
  expect(judgeIntel('NIR')).toBeUndefined()
})
