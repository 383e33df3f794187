"""OpenCV: calibrateCameraExtended with its standard deviations."""

import cv2
import numpy as np
from protocol import answer_task

CALL = "calibrateCameraExtended(…, flags=CALIB_FIX_K3); ± = 1.96 · stdDeviationsIntrinsics"


def camera(data, stated):
    points = data["points"].astype(np.float32)

    def answer(k):
        views = [pixels.astype(np.float32) for pixels in data["pixels"][k]]
        found = cv2.calibrateCameraExtended(
            [points] * len(views), views, tuple(stated["size"]), None, None, flags=cv2.CALIB_FIX_K3
        )
        matrix, distortion, sigma = found[1], found[2].ravel(), found[5].ravel()
        value = [matrix[0, 0], matrix[1, 1], matrix[0, 2], matrix[1, 2], *distortion[:4]]
        return {"value": value, "half": 1.96 * sigma[:8]}

    return CALL, {}, answer


if __name__ == "__main__":
    answer_task({"camera": camera}, ["opencv-python-headless", "numpy"])
