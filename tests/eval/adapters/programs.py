"""Stand-ins of released programs: their file names, arguments, folders, traps and file formats, without their networks.

Each reads as the program of the preset's commit reads, paints the hole, grown as that program grows it, with a colour that tells
the frame's number, and writes as it writes.
"""

from __future__ import annotations

import textwrap
from pathlib import Path

SHARED = """
import argparse, glob, os, pathlib, sys
import av, cv2, numpy as np
from PIL import Image

def listed(folder):
    return [os.path.join(folder, name) for name in sorted(os.listdir(folder))]

def pictures(paths):
    return np.stack([np.asarray(Image.open(path).convert("RGB")) for path in paths])

def clip(path):
    capture, frames = cv2.VideoCapture(path), []
    while True:
        there, frame = capture.read()
        if not there:
            return np.stack(frames), capture.get(cv2.CAP_PROP_FPS)
        frames.append(frame[..., ::-1])

def grown(holes, times, kernel=cv2.MORPH_CROSS, size=(3, 3)):
    shape = cv2.getStructuringElement(kernel, size)
    return np.stack([cv2.dilate(hole.astype(np.uint8), shape, iterations=times) > 0 for hole in holes]) if times else holes

def painted(frames, holes):
    assert len(frames) == len(holes), (len(frames), len(holes))
    assert frames.shape[:3] == holes.shape, (frames.shape, holes.shape)
    done = frames.copy()
    for number, hole in enumerate(holes):
        done[number][hole] = (7 * number % 256, 37, 91)
    return done

def save(folder, name, frames, first=0, **options):
    os.makedirs(folder, exist_ok=True)
    for number, frame in enumerate(frames):
        Image.fromarray(frame).save(os.path.join(folder, name.format(first + number)), **options)

def mp4v(path, frames, fps):
    os.makedirs(os.path.dirname(os.path.abspath(path)), exist_ok=True)
    writer = cv2.VideoWriter(str(path), cv2.VideoWriter_fourcc(*"mp4v"), fps, (frames.shape[2], frames.shape[1]))
    for frame in frames:
        writer.write(np.ascontiguousarray(frame[..., ::-1]))
    writer.release()

def h264(path, frames, fps, crf):
    assert frames.shape[1] % 16 == 0 and frames.shape[2] % 16 == 0, "imageio would scale these to multiples of 16"
    with av.open(str(path), "w") as container:
        stream = container.add_stream("libx264", rate=int(fps), options={"crf": str(crf)})
        stream.width, stream.height, stream.pix_fmt = frames.shape[2], frames.shape[1], "yuv420p"
        for frame in frames:
            container.mux(stream.encode(av.VideoFrame.from_ndarray(np.ascontiguousarray(frame), format="rgb24")))
        container.mux(stream.encode(None))

parser = argparse.ArgumentParser()
def options(*names, **kinds):
    for name in names:
        parser.add_argument(name)
    return parser.parse_args()
"""

PROGRAMS: dict[str, dict[str, str]] = {
    "propainter": {"inference_propainter.py": """
        parser.add_argument("--save_frames", action="store_true")
        a = options("-i", "-m", "-o", "--mask_dilation", "--save_fps")
        assert os.path.isdir("weights") and a.save_frames
        frames, holes = pictures(listed(a.i)), pictures(listed(a.m))[..., 0] > 0
        assert frames.shape[1] % 8 == 0 and frames.shape[2] % 8 == 0 and len(frames) >= 3
        assert min(frames.shape[1:3]) >= 128, "its flow would be NaN"
        done, out = painted(frames, grown(holes, int(a.mask_dilation))), os.path.join(a.o, os.path.basename(a.i))
        save(os.path.join(out, "frames"), "{:04d}.png", done)
        mp4v(os.path.join(out, "inpaint_out.mp4"), frames, float(a.save_fps))
        """},
    "propainter-grown": {},
    "e2fgvi-hq": {"test.py": """
        a = options("--model", "-v", "-m", "-c", "--savefps")
        assert a.model == "e2fgvi_hq" and os.environ["MPLBACKEND"] == "Agg", "a window would open here"
        frames, holes = pictures(listed(a.v)), pictures(listed(a.m))[..., 0] > 0
        assert open(a.c).read() == "weights"
        mp4v("results/" + os.path.basename(a.v) + "_results.mp4", painted(frames, grown(holes, 4)), int(a.savefps))
        """},
    "e2fgvi": {"test.py": """
        a = options("--model", "-v", "-m", "-c", "--savefps")
        assert a.model == "e2fgvi" and os.environ["MPLBACKEND"] == "Agg", "a window would open here"
        frames, holes = pictures(listed(a.v)), pictures(listed(a.m))[..., 0] > 0
        assert frames.shape[1:3] == (240, 432)
        mp4v("results/" + os.path.basename(a.v) + "_results.mp4", painted(frames, grown(holes, 4)), int(a.savefps))
        """},
    "fuseformer": {"test.py": """
        a = options("-v", "-m", "-c", "--savefps")
        a = parser.parse_args()
        frames, holes = pictures(listed(a.v)), pictures(listed(a.m))[..., 0] > 0
        assert frames.shape[1:3] == (240, 432), "its own resize would change known pixels"
        mp4v(os.path.basename(a.v) + "_result.mp4", painted(frames, grown(holes, 4)), 24)
        """},
    "sttn": {"test.py": """
        a = options("-v", "-m", "-c")
        assert os.environ["CUDA_VISIBLE_DEVICES"] == ""
        frames, _ = clip(a.v)
        holes = pictures(listed(a.m))[..., 0] > 0
        mp4v(a.m + "_result.mp4", painted(frames, grown(holes, 4)), 24)
        """},
    "fgvc": {"tool/video_completion.py": """
        parser.add_argument("--seamless", action="store_true")
        a = options("--mode", "--path", "--path_mask", "--outroot")
        assert os.path.basename(os.getcwd()) == "tool" and a.seamless and a.mode == "object_removal"
        paths = sorted(glob.glob(os.path.join(a.path, "*.png")))
        assert len(paths) == len(os.listdir(a.path))
        frames, holes = pictures(paths), pictures(listed(a.path_mask))[..., 0] > 0
        assert frames.shape[1] % 8 == 0 and frames.shape[2] % 8 == 0 and min(frames.shape[1:3]) >= 128
        done = painted(frames, grown(holes, 5))
        green = np.zeros_like(done) + np.uint8([0, 255, 0])
        save(os.path.join(a.outroot, "frame_seamless_comp_0"), "{:05d}.png", green)
        save(os.path.join(a.outroot, "flow"), "{:05d}.png", green)
        save(os.path.join(a.outroot, "frame_seamless_comp_final"), "{:05d}.png", done)
        mp4v(os.path.join(a.outroot, "frame_seamless_comp_final", "final.mp4"), frames, 12)
        """},
    "diffueraser": {"run_diffueraser.py": """
        a = options("--input_video", "--input_mask", "--video_length", "--save_path", "--max_img_size")
        assert os.path.isdir("weights")
        frames, fps = clip(a.input_video)
        masks, mask_fps = clip(a.input_mask)
        assert fps == mask_fps and len(frames) >= 22 and int(int(a.video_length) * fps) >= len(frames)
        assert set(np.unique(masks)) <= {0, 255}
        assert max(frames.shape[1:3]) >= 256
        assert int(0.6 * min(frames.shape[1:3])) // 8 * 8 >= 128, "the flow of its first step would be NaN"
        square = cv2.getStructuringElement(cv2.MORPH_RECT, (3, 3))
        holes = np.stack([cv2.erode((mask[..., 0] > 0).astype(np.uint8), square) for mask in masks])
        done = painted(frames, grown(holes, 8, cv2.MORPH_RECT))
        mp4v(os.path.join(a.save_path, "priori.mp4"), frames, fps)
        mp4v(os.path.join(a.save_path, "diffueraser_result.mp4"), done, fps)
        """},
    "vace": {"vace/vace_wan_inference.py": """
        a = options("--ckpt_dir", "--src_video", "--src_mask", "--prompt", "--base_seed", "--save_dir")
        assert a.prompt is not None, "the built-in example would replace the sources"
        frames, fps = clip(a.src_video)
        holes = clip(a.src_mask)[0][..., 0] > 127
        assert len(frames) % 4 == 1 and fps == 16 and frames.shape[1] * frames.shape[2] <= 399360
        assert (frames[holes] == 128).all()
        for name, what in (("src_video.mp4", frames), ("src_mask.mp4", frames), ("out_video.mp4", painted(frames, holes))):
            h264(os.path.join(a.save_dir, name), what, 16, 10)
        """},
    "lama": {"bin/predict.py": """
        a = dict(word.split("=", 1) for word in sys.argv[1:])
        repo = str(pathlib.Path(__file__).resolve().parents[1])
        assert os.environ["PYTHONPATH"] == repo and os.path.isabs(a["indir"]) and os.path.isabs(a["outdir"])
        os.makedirs(os.path.join(a["outdir"], ".hydra"))
        os.chdir(os.path.join(a["outdir"], ".hydra"))
        masks = sorted(glob.glob(os.path.join(a["indir"], "**", "*mask*.png"), recursive=True))
        frames = pictures([path.rsplit("_mask", 1)[0] + a["dataset.img_suffix"] for path in masks])
        for path, frame in zip(masks, painted(frames, pictures(masks)[..., 0] > 0)):
            Image.fromarray(frame).save(os.path.join(a["outdir"], os.path.basename(path)))
        """},
    "mat": {"generate_image.py": """
        a = options("--network", "--dpath", "--mpath", "--outdir")
        frames, known = pictures(listed(a.dpath)), pictures(listed(a.mpath))[..., 0]
        assert frames.shape[1] % 512 == 0 and frames.shape[2] % 512 == 0 and set(np.unique(known)) <= {0, 255}
        for path, frame in zip(listed(a.dpath), painted(frames, known == 0)):
            Image.fromarray(frame).save(os.path.join(a.outdir, os.path.basename(path)))
        """},
    "aot-gan": {"src/test.py": """
        a = options("--dir_image", "--dir_mask", "--pre_train", "--outputs")
        frames, holes = pictures(listed(a.dir_image)), pictures(listed(a.dir_mask))[..., 0] > 0
        assert frames.shape[1] % 4 == 0 and frames.shape[2] % 4 == 0
        for path, frame in zip(listed(a.dir_image), painted(frames, holes)):
            stem = os.path.basename(path).split(".")[0]
            for ending, what in (("comp", frame), ("pred", 255 - frame), ("masked", frame * 0)):
                Image.fromarray(what).save(os.path.join(a.outputs, f"{stem}_{ending}.png"))
        """},
    "minimax-remover": {"test_minimax_remover.py": """
        assert all(os.path.isdir(name) for name in ("vae", "transformer", "scheduler"))
        frames, masks = clip("./video.mp4")[0][:81], clip("./mask.mp4")[0][:81]
        assert frames.shape == (81, 480, 832, 3), frames.shape
        h264("./output.mp4", painted(frames, grown(masks[..., 0] > 20, 6)), 10, 25)
        """},
    "rose": {"inference.py": """
        parser.add_argument("--sample_size", nargs=2, type=int)
        names = ("--validation_videos", "--validation_masks", "--validation_prompts", "--video_length", "--output_dir")
        a = options(*names)
        frames, holes = clip(a.validation_videos)[0], clip(a.validation_masks)[0][..., 0] >= 240
        assert len(frames) == int(a.video_length) and len(frames) % 16 == 1 and list(frames.shape[1:3]) == a.sample_size
        h264(os.path.join(a.output_dir, "example-1.mp4"), painted(frames, holes), 12, 25)
        """},
    "svor": {"predict_SVOR.py": """
        a = options("--input_video", "--input_mask_video", "--save_dir", "--sample_size", "--video_length", "--fps", "--seed")
        assert os.path.exists("config/wan2.1/wan_civitai.yaml") and os.path.isdir("models")
        frames, holes = clip(a.input_video)[0], clip(a.input_mask_video)[0][..., 0] > 127
        assert len(frames) == int(a.video_length) and len(frames) % 4 == 1
        h264(os.path.join(a.save_dir, os.path.basename(a.input_video)), painted(frames, grown(holes, 6)), int(a.fps), 25)
        """},
    "effecterase": {"examples/remove_wan/infer_remove_wan.py": """
        for option, default in (("--num_frames", 81), ("--height", 480), ("--width", 832), ("--seed", 2025)):
            parser.add_argument(option, type=int, default=default)
        networks = ("--text_encoder_path", "--vae_path", "--dit_path", "--image_encoder_path", "--pretrained_lora_path")
        for option in ("--fg_bg_path", "--mask_path", "--output_path", *networks):
            parser.add_argument(option, required=True)
        a = parser.parse_args()
        assert all(os.path.isdir(os.path.dirname(getattr(a, name[2:]))) for name in networks[:-1])
        assert open(a.pretrained_lora_path).read() == "weights"
        (frames, fps), (masks, _) = clip(a.fg_bg_path), clip(a.mask_path)
        assert len(frames) >= a.num_frames, "fewer frames than num_frames"
        assert frames.shape[1:3] == (a.height, a.width), "its own resize would change known pixels"
        assert (masks[0] > 0).any(), "has no valid mask region in first frame"
        h264(a.output_path, painted(frames[:81], masks[:81, ..., 0] > 127), fps, 10)
        """},
    "undereraser": {"infer.py": """
        assert os.path.exists("config/wan2.1/wan_civitai.yaml") and os.path.isdir("models") and os.path.isdir("weight")
        assert os.listdir("data/video") == os.listdir("data/mask") == ["clip.mp4"]
        for name in os.listdir("data/video"):
            frames, masks = clip("data/video/" + name)[0][:81], clip("data/mask/" + name)[0][:81]
            assert len(frames) == 81 and frames.shape[1:3] == (480, 720), frames.shape
            os.makedirs("result", exist_ok=True)
            h264("result/" + name, painted(frames, masks[..., 0] >= 240), 16, 25)
        """},
    "gen-omnimatte": {"inference/cogvideox_fun/predict_v2v.py": """
        given = dict(word.removeprefix("--config").removeprefix(".").split("=", 1) for word in sys.argv[1:])
        assert os.path.isfile(given.pop("")), "the file of its settings"
        here = os.path.join(given["data.data_rootdir"], given["experiment.run_seqs"])
        assert glob.glob(os.path.join(here, "mask_*.mp4")) == [os.path.join(here, "mask_00.mp4")], "one object"
        assert os.path.isdir("models/Diffusion_Transformer/CogVideoX-Fun-V1.5-5b-InP")
        assert open(given["video_model.transformer_path"]).read() == "weights" and int(given["system.seed"]) >= 0
        assert isinstance(__import__("json").load(open(os.path.join(here, "prompt.json")))["bg"], str)
        frames, masks = (clip(os.path.join(here, name))[0] for name in ("input_video.mp4", "mask_00.mp4"))
        assert frames.shape[1:3] == (384, 672) and 85 <= len(frames) <= 197 and (len(frames) - 5) % 8 == 0, frames.shape
        done = painted(frames, grown(masks[..., 0] >= 240, 1, cv2.MORPH_RECT, (11, 11)))
        h264(os.path.join(given["experiment.save_path"], "clip-fg=-1-0001.mp4"), done, 16, 25)
        h264(os.path.join(given["experiment.save_path"], "clip-fg=-1-0001_tuple.mp4"), frames, 16, 25)
        """, "config/default_cogvideox.py": ""},
    "void": {"inference/cogvideox_fun/predict_v2v.py": """
        given = dict(word.removeprefix("--config").removeprefix(".").split("=", 1) for word in sys.argv[1:])
        assert os.path.isfile(given.pop("")), "the file of its settings"
        here = os.path.join(given["data.data_rootdir"], given["experiment.run_seqs"])
        assert not glob.glob(os.path.join(here, "mask*.mp4")), "would be read in place of the quadmask"
        assert os.path.isdir("CogVideoX-Fun-V1.5-5b-InP")
        assert open(given["video_model.transformer_path"]).read() == "weights" and int(given["system.seed"]) >= 0
        assert isinstance(__import__("json").load(open(os.path.join(here, "prompt.json")))["bg"], str)
        frames, masks = (clip(os.path.join(here, name))[0] for name in ("input_video.mp4", "quadmask_0.mp4"))
        assert frames.shape[1:3] == (384, 672) and 85 <= len(frames) <= 197 and (len(frames) - 5) % 8 == 0, frames.shape
        assert set(np.unique(masks)) <= {0, 63, 127, 255}
        done = painted(frames, masks[..., 0] <= 31)
        h264(os.path.join(given["experiment.save_path"], "clip-fg=-1-0001.mp4"), done, 12, 25)
        h264(os.path.join(given["experiment.save_path"], "clip-fg=-1-0001_tuple.mp4"), frames, 12, 25)
        """, "config/quadmask_cogvideox.py": ""},
    "videopainter": {"evaluate/eval_inpainting.py": """
        import csv
        for flag in ("--save_results", "--first_frame_gt", "--mask_add", "--replace_gt"):
            parser.add_argument(flag, action="store_true")
        networks = ("--model_path", "--inpainting_branch", "--img_inpainting_model")
        own = ("--dataset", "--video_root", "--mask_root", "--caption_path", "--max_video_length", "--save_addr", "--dilate_size")
        a = options(*own, *networks, "--down_sample_fps", "--seed")
        assert os.path.isdir("../ckpt") and all(getattr(a, name[2:]).startswith("../ckpt/") for name in networks)
        assert a.dataset == "davis" and a.save_results and a.first_frame_gt, "it would write nothing"
        (row,) = csv.DictReader(open(a.caption_path))
        assert row["Video_Index"] == "1" and row["Video_Caption"] and row["Masked_Target_Caption"], "pandas reads NaN"
        print("shows", row["Video_Caption"])
        (name,) = os.listdir(a.mask_root)
        frames = pictures(listed(os.path.join(a.video_root, name)))
        holes = pictures([os.path.join(a.mask_root, name, str(t).zfill(5) + ".png") for t in range(len(frames))])[..., 0] > 0
        assert frames.shape == (int(a.max_video_length), 480, 720, 3), "it would refuse them, or scale them"
        kind = "w" if a.replace_gt else "wo"
        out = os.path.join(a.save_addr, f"Eval_davis_dilate_{a.dilate_size}_{kind}_replace_gt", name)
        save(out + "/ori_frames", "{:05d}.png", frames)
        save(out + "/comp_frames", "{:05d}.png", painted(frames, grown(holes, 4)))
        """},
    "dfvi": {"tools/video_inpaint.py": """
        parser.add_argument("--img_size", nargs=2, type=int)
        for flag in ("--FlowNet2", "--DFC", "--ResNet101", "--Propagation"):
            parser.add_argument(flag, action="store_true")
        a = options("--frame_dir", "--MASK_ROOT", "--output_root_propagation")
        assert " " not in a.frame_dir and os.path.isdir("tools")
        frames = pictures(listed(a.frame_dir))
        holes = np.stack([np.asarray(Image.open(path))[:, :, 0] > 0 for path in listed(a.MASK_ROOT)])
        assert list(frames.shape[1:3]) == a.img_size and all(side % 64 == 0 for side in a.img_size) and len(frames) > 12
        save(os.path.join(a.output_root_propagation, "inpaint_res"), "{:05d}.png", painted(frames, holes)[:-1])
        """},
    "vinet": {"demo_vi.py": """
        (name,) = open("DAVIS_demo/ImageSets/2016/demo_davis.txt").read().split()
        frames = pictures(listed("DAVIS_demo/JPEGImages/480p/" + name))
        levels = pictures(listed("DAVIS_demo/Annotations/480p/" + name))[..., 0]
        holes = levels != 0 if name in ("tennis", "bmx-trees") else levels == 1
        assert len(frames) >= 30 and frames.shape[1:3] == (512, 512)
        assert os.path.exists("results/vinet_agg_rec/save_agg_rec_512.pth")
        done = painted(frames, holes)
        save("results/vinet_agg_rec/davis_512/" + name, "{:05d}.png", done[1:], first=1)
        """},
    "cpnet": {"CPNet_test.py": """
        a = options("-g", "-D")
        (name,) = open(os.path.join(a.D, "DAVIS_example/ImageSets/example.txt")).read().split()
        frames = pictures(listed(os.path.join(a.D, "DAVIS_example/JPEGImages/480p", name)))
        holes = pictures(listed(os.path.join(a.D, "DAVIS_example/Annotations/480p", name)))[..., 0] > 0
        assert frames.shape[1:3] == (240, 424) and os.path.isdir("weight") and os.path.isdir("models")
        save("test/" + name, "f{}.jpg", painted(frames, grown(holes, 4)), quality=75)
        """},
    "opn": {"demo_video.py": """
        a = options("--input")
        paths = listed(os.path.join("Video_inputs", a.input))
        frames = pictures([path for path in paths if path.endswith(".jpg")])
        holes = pictures([path for path in paths if path.endswith(".png")])[..., 0] > 0
        assert frames.shape[1:3] == (240, 424) and os.path.exists("OPN.pth")
        both = np.concatenate([frames // 2, painted(frames, grown(holes, 1))], axis=1)
        save(os.path.join("Video_results", a.input), "{:05d}.jpg", both, quality=75)
        """},
    "deepfillv2": {"batch_test.py": """
        a = options("--flist", "--image_height", "--image_width", "--checkpoint_dir")
        assert os.path.exists("batch_test.py"), "inpaint.yml is looked for where it runs"
        rows = [line.split(" ") for line in open(a.flist).read().splitlines()]
        frames, holes = pictures([row[0] for row in rows]), pictures([row[1] for row in rows])[..., 0] > 127.5
        assert [frames.shape[1], frames.shape[2]] == [int(a.image_height), int(a.image_width)]
        for row, frame in zip(rows, painted(frames, holes)):
            Image.fromarray(frame).save(row[2])
        """},
    "edgeconnect": {"test.py": """
        a = options("--checkpoints", "--model", "--input", "--mask", "--output")
        assert a.model == "3" and all(Image.open(path).mode == "RGB" for path in listed(a.mask))
        frames, holes = pictures(listed(a.input)), pictures(listed(a.mask))[..., 0] > 0
        for path, frame in zip(listed(a.input), painted(frames, holes)):
            Image.fromarray(frame).save(os.path.join(a.output, os.path.basename(path)))
        """},
    "comodgan": {"run_generator.py": """
        a = options("-c", "-i", "-m", "-o")
        number = int(os.path.basename(a.i)[6:10])
        frame, known = np.asarray(Image.open(a.i)), np.asarray(Image.open(a.m).convert("1"))
        assert frame.shape == (512, 512, 3)
        Image.fromarray(np.where(known[..., None], frame, np.uint8([7 * number % 256, 37, 91]))).save(a.o)
        """},
    "tokenflow": {"preprocess.py": """
        a = options("--data_path", "--H", "--W", "--n_frames", "--inversion_prompt")
        frames, stem = clip(a.data_path)[0], pathlib.Path(a.data_path).stem
        assert frames.shape[1:3] == (int(a.H), int(a.W)) and len(frames) == int(a.n_frames)
        save("data/" + stem, "{:05d}.png", frames)
        latents = pathlib.Path("latents/sd_2.1", stem, "steps_500", "nframes_" + a.n_frames, "latents")
        latents.mkdir(parents=True)
        (latents.parent / "inversion_prompt.txt").write_text(a.inversion_prompt)
        """, "run_tokenflow_pnp.py": """
        import yaml
        c = yaml.safe_load(open(options("--config_path").config_path))
        pathlib.Path("latents/sd_2.1/video/steps_500/nframes_%d" % c["n_frames"], "latents").stat()
        kept = c["n_frames"] - c["n_frames"] % c["batch_size"]
        frames = pictures([os.path.join(c["data_path"], "%05d.png" % number) for number in range(kept)])
        assert frames.shape[1] != frames.shape[2] or frames.shape[1] == 512, "it would be made 512x512"
        out = os.path.join(c["output_path"] + "_pnp_SD_" + c["sd_version"], "video", c["prompt"][:240], "attn_0.5_f_0.8", "50")
        save(out + "/vae_recon", "{:05d}.png", frames)
        save(out + "/img_ode", "{:05d}.png", 255 - frames)
        print(c["seed"] + 1, c["prompt"], "without", c["negative_prompt"])
        """},
    "fatezero": {"test_fatezero.py": """
        import time, yaml
        c = yaml.safe_load(open(options("--config").config))
        data, editing = c["dataset_config"], c["editing_config"]
        assert open(c["pretrained_model_path"]).read() == "weights" and editing["clip_length"] == data["n_sample_frame"]
        frames = pictures(listed(data["path"]))[:data["n_sample_frame"]]
        assert frames.shape[1:3] == (512, 512) and len(editing["editing_prompts"]) == len(editing["p2p_config"]) == 2
        out = c["logdir"] + time.strftime("_%y%m%d-%H%M%S") + "/sample/"
        for number, (prompt, done) in enumerate(zip(editing["editing_prompts"], (frames, 255 - frames))):
            for seed in editing["sample_seeds"]:
                save(f"{out}step_0_{number}_{seed}", "{:05d}.png", done)
                save(f"{out}step_0_{number}_{seed}atten", "{:05d}.png", done[:, :256])
        print(c["seed"] + 1, data["prompt"], "becomes", editing["editing_prompts"][1])
        """},
}  # fmt: skip
PROGRAMS["propainter-grown"] = PROGRAMS["propainter"]  # another start of the same script
EDITORS = ("tokenflow", "fatezero")
"""Those that edit by prompts; they turn every colour into its complement."""
# What their clones hold besides.
BESIDE = {
    "propainter": ("weights/",), "propainter-grown": ("weights/",), "diffueraser": ("weights/",),
    "e2fgvi-hq": ("release_model/",), "e2fgvi": ("release_model/",),
    "minimax-remover": ("vae/", "transformer/", "scheduler/"), "rose": ("models/", "weights/", "configs/"),
    "svor": ("models/", "config/wan2.1/wan_civitai.yaml"), "vinet": ("results/vinet_agg_rec/save_agg_rec_512.pth",),
    "effecterase": ("Wan-AI/Wan2.1-Fun-1.3B-InP/",),
    "undereraser": ("models/", "weight/", "config/wan2.1/wan_civitai.yaml"),
    "gen-omnimatte": ("models/Diffusion_Transformer/CogVideoX-Fun-V1.5-5b-InP/",), "void": ("CogVideoX-Fun-V1.5-5b-InP/",),
    "videopainter": ("ckpt/",),
    "cpnet": ("weight/", "models/"), "opn": ("OPN.pth", "TCN.pth", "utils/", "models/"),
}  # fmt: skip


def cloned(name: str, folder: Path, *, changed: str = "") -> Path:
    """A folder that plays the clone of a program; ``changed`` is a line that its script ends with."""
    for file, text in PROGRAMS[name].items():
        path = folder / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(SHARED + textwrap.dedent(text) + changed)
    for place in BESIDE.get(name, ()):
        path = folder / place
        (path if place.endswith("/") else path.parent).mkdir(parents=True, exist_ok=True)
        if not place.endswith("/"):
            path.touch()
    (folder / "weights.pth").write_text("weights")
    return folder
