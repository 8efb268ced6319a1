// In Chromium, too, the GPU tests share a device, as those in Node do (dawn.setup.ts).
import { shareDevices } from '../kernels/device/testing.ts'

shareDevices()
