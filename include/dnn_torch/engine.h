/* SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/**
 * The interface between the filters and an engine, which runs models.
 *
 * An engine is a shared object named `engine-NAME.so` that exports one
 * function, dnn_torch_engine().  Tensors go in and out; no AVFrame and no C++ object
 * crosses this interface.  No function of an engine may throw.
 *
 * A model is loaded once.  A plan says how it is run for tensors of some shapes.
 * A session is a place to run a plan in.  Sessions are closed before their plan,
 * and plans before their model.
 *
 * Structs begin with their size in bytes, which the side that creates the struct
 * sets.  New members come at the end.  A member that a shorter struct lacks reads as
 * zero, and writers leave it out.  The size of an array's first element is the stride
 * of the array.  DnnTorchOption and DnnTorchMessage have no size because they never
 * grow.
 *
 * Threads: every function of a model or a plan may be called from several threads
 * at once, also while sessions run.  A DnnTorchSession belongs to one thread at a
 * time, except for session_stop().
 */
#ifndef DNN_TORCH_ENGINE_H
#define DNN_TORCH_ENGINE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Raised with every change of a layout or a meaning below. */
#define DNN_TORCH_ENGINE_ABI 8u

/** The name of the one symbol that an engine exports. */
#define DNN_TORCH_ENGINE_SYMBOL "dnn_torch_engine"

typedef enum DnnTorchStatus {
    DNN_TORCH_OK = 0,
    DNN_TORCH_BAD_OPTION = 1, /**< an option is unknown, or its value makes no sense here */
    DNN_TORCH_NO_FILE = 2,    /**< the model's file cannot be read */
    DNN_TORCH_BAD_MODEL = 3,  /**< the file is not a model that this engine runs */
    DNN_TORCH_NO_DEVICE = 4,  /**< the device is unknown, absent or unusable */
    DNN_TORCH_BAD_INPUT = 5,  /**< the caller's tensors do not fit the model */
    DNN_TORCH_BAD_OUTPUT = 6, /**< the model returned something other than such a tensor */
    DNN_TORCH_RUN_FAILED = 7, /**< the model itself failed while it ran */
    DNN_TORCH_OUT_OF_MEMORY = 8,
    DNN_TORCH_STOPPED = 9,   /**< session_stop() ended the run */
    DNN_TORCH_INTERNAL = 10, /**< a fault of the engine */
    DNN_TORCH_CRASHED = 11,  /**< the process that runs the model has ended; the message says how */
    /** The model takes pictures of another number of channels, or tensors of another rank. */
    DNN_TORCH_WRONG_CHANNELS = 12,
    DNN_TORCH_WRONG_RANK = 13,
    /**
     * The model is in several files, and the source lacks some.  The message has the names of all
     * but the first, with "/" between them.  They lie beside it, and the caller tries again with
     * them as the source's `parts`.
     */
    DNN_TORCH_NEEDS_PARTS = 14
} DnnTorchStatus;

/** A failing function writes the reason here: one line, no full stop, no line end. */
typedef struct DnnTorchMessage {
    char text[1024];
} DnnTorchMessage;

/** The type of a tensor's elements; 0: not known, or any. */
typedef enum DnnTorchType {
    DNN_TORCH_U8 = 1,
    DNN_TORCH_U16 = 2,
    DNN_TORCH_F32 = 3,
    DNN_TORCH_F16 = 4,
    DNN_TORCH_BF16 = 5,
    DNN_TORCH_I32 = 6,
    DNN_TORCH_I64 = 7,
    DNN_TORCH_BOOL = 8 /**< one byte: 0 or 1 */
} DnnTorchType;

/** The maximum rank of a tensor. */
#define DNN_TORCH_DIMENSIONS 8

/**
 * A view of a tensor in memory that it does not own, or only its shape.
 * Element (i, j, ...) is at data + i*strides[0] + j*strides[1] + ....
 */
typedef struct DnnTorchTensor {
    size_t size;
    void *data;   /**< NULL: only the shape */
    int32_t type; /**< a DnnTorchType */
    int32_t rank;
    int64_t dims[DNN_TORCH_DIMENSIONS];
    int64_t strides[DNN_TORCH_DIMENSIONS]; /**< in bytes */
    /**
     * Of integer types: the value that stands for 1.0, if the elements are quantised samples
     * of pictures.  0: the elements are plain numbers.
     */
    int32_t white;
    /**
     * Of an input: the extra input that it is for; "": it holds the pictures.  Of an output, with
     * `results=tensors`: the name as the option `output` takes it.
     */
    char name[64];
    /**
     * Of a shape to plan for: the least and the largest number that its pictures hold.
     * Both 0: from 0 to 1.
     */
    float low, high;
} DnnTorchTensor;

/** In the option `allow`: a model that is compiled code may run. */
#define DNN_TORCH_COMPILED_CODE "compiled_code"

/** One option.  A NULL or empty value is the option's default. */
typedef struct DnnTorchOption {
    const char *key, *value;
} DnnTorchOption;

/** The most files that a model is in, besides the first. */
#define DNN_TORCH_PARTS 8u

/**
 * What a model is read from: an opened file, or bytes.  The engine reads the file
 * by its descriptor, from the file's beginning and without moving its position.  It
 * never opens the name, so it loads exactly the file that was checked.  The caller
 * keeps descriptor and bytes until model_open() returns.
 */
typedef struct DnnTorchSource {
    size_t size;
    const char *name; /**< what messages call it: a path */
    int fd;           /**< below 0: there is none, and `data` holds the bytes */
    const void *data;
    size_t data_size;
    int sink; /**< what the option `export` writes to, until model_open() returns; 0: none */
    /** The model's further files.  The name of each has no folder. */
    const struct DnnTorchSource *parts;
    size_t part_count; /**< at most DNN_TORCH_PARTS */
    /**
     * An empty memory file, as large as the model, for an engine that can make none: for compiled
     * code of the model, which is opened as a library.  Until model_open() returns; 0: none.
     */
    int code;
} DnnTorchSource;

/** A tensor that a model takes or returns. */
typedef struct DnnTorchTensorInfo {
    size_t size;
    char name[64];       /**< as the options `input` and `output` take it */
    char type_text[128]; /**< as the model's own format names it */
    int32_t type;        /**< a DnnTorchType; 0: not known */
    int32_t rank;        /**< -1: not known */
    int64_t dims[DNN_TORCH_DIMENSIONS]; /**< -1: not known */
} DnnTorchTensorInfo;

typedef enum DnnTorchDirection { DNN_TORCH_INPUTS = 0, DNN_TORCH_OUTPUTS = 1 } DnnTorchDirection;

/** What plan_make() may do and use. */
typedef struct DnnTorchPlanParameters {
    size_t size;
    double budget_seconds; /**< about how long it may measure; 0: not at all */
    /**
     * Pictures as sessions will run them, [count, channels, height, width] of float32 without
     * gaps: they calibrate `precision=int8`.  Their height and width may differ from the plan's.
     * NULL: there are none.  The engine only reads them, until plan_make() returns.
     */
    const DnnTorchTensor *samples;
    int32_t as_saved; /**< 1: the model runs as it was saved, whatever the options say */
} DnnTorchPlanParameters;

/** What a plan's runs cost and require.  Zero means unknown. */
typedef struct DnnTorchPlanFacts {
    size_t size;
    double run_seconds;  /**< one run on one thread, or on the device */
    int64_t run_bytes;   /**< peak memory of a run, without the model */
    int32_t interleaved; /**< 1: pictures with interleaved channels are fastest */
    int32_t takes_integers; /**< 1: a frame's own quantised samples are faster than floats */
    /** 1: a result depends on earlier runs: one session makes all runs, in the order of frames. */
    int32_t in_order;
    int32_t alone; /**< 1: runs wait for each other, so a second session gains nothing */
    /** Multiplications and additions of one run's convolutions and matrix products. */
    double run_operations;
    /**
     * 1: pictures showed that no other variant may be used, so the model runs as it was saved.
     * The only fact that may change, with a run.
     */
    int32_t as_saved;
    int32_t rounds_to_16_bits; /**< 1: results are no more exact than bf16 or fp16 */
} DnnTorchPlanFacts;

/** Parameters and results of one run. */
typedef struct DnnTorchRun {
    size_t size;
    int64_t number;   /**< in: the index of the first picture in the stream, from 0 on */
    int32_t had_nan;  /**< out: 1: a sample of a quantised output was NaN and is 0 there */
    int32_t retries;  /**< out: how often it was tried again, in a new process of the model */
    /**
     * in: 1: another run of the same pictures (such as the next tile) follows in this session.
     * Only the last one has 0.
     */
    int32_t more;
    /**
     * in: this run's `number` less that of its predecessor, the run right before it in the plan's
     * stream.  0: there is none, or it is not known.  A run's result may depend on earlier runs, so
     * an engine may wait, for a limited time, until the predecessor has begun in another session.
     * Each run that is a predecessor must be made, or fail.
     */
    int64_t predecessor_distance;
} DnnTorchRun;

typedef enum DnnTorchDeviceState {
    DNN_TORCH_DEVICE_USABLE = 1,
    DNN_TORCH_DEVICE_BUILT_WITHOUT = 2,  /**< the library does not support it: no driver helps */
    DNN_TORCH_DEVICE_LIBRARY_BROKEN = 3, /**< the library's part for it cannot be loaded */
    DNN_TORCH_DEVICE_NO_DRIVER = 4,      /**< there is no driver, or it does not answer */
    DNN_TORCH_DEVICE_ABSENT = 5,         /**< no device of the kind was found */
    DNN_TORCH_DEVICE_FAILED = 6          /**< the device is there and does not work */
} DnnTorchDeviceState;

/** A device as the library that runs the models sees it. */
typedef struct DnnTorchDevice {
    size_t size;
    char name[32];         /**< as the option `device` takes it: "cuda:0" */
    char description[160]; /**< "NVIDIA H200" */
    int64_t memory;        /**< bytes; 0: not known */
    int32_t state;         /**< a DnnTorchDeviceState */
    char reason[256];      /**< why the device is not usable */
    char remedy[256];      /**< what makes it usable, as far as that is about the library; or "" */
} DnnTorchDevice;

typedef struct DnnTorchModel DnnTorchModel;
typedef struct DnnTorchPlan DnnTorchPlan;
typedef struct DnnTorchSession DnnTorchSession;

/**
 * The functions of an engine.  A function that takes a `message` returns a
 * DnnTorchStatus.  On failure it fills `message`, which is never NULL, and leaves its
 * results NULL or untouched.
 */
typedef struct DnnTorchEngine {
    uint32_t abi;        /**< first in every ABI: DNN_TORCH_ENGINE_ABI of the engine's build */
    size_t size;         /**< of this table */
    const char *name;    /**< "LibTorch" */
    const char *version; /**< of the library that runs the models */

    /**
     * Loads a model.  The caller owns *model and gives it to model_close().
     * An unknown key fails with DNN_TORCH_BAD_OPTION and a message that names it.
     * The host passes these keys:
     *
     *   device     "cpu" (the default) and the like, as list_devices() names them
     *   input      the name of the input that gets the pictures; by default the only one
     *   output     the name of the tensor that is returned; by default the only one, or
     *              the first of a tuple or list
     *   precision  "fp32", "bf16", "fp16", "int8": what the model computes with.  "auto", the
     *              default, is as saved on the CPU, and fp16 on a GPU if the model allows it
     *   optimize   "0": as it was saved.  "1", the default: the fastest variant that the
     *              engine knows.  The name of a variant: that one; a name that the
     *              engine does not know fails with a message that lists them
     *   allow      operators that the model may use although the engine refuses them, and
     *              DNN_TORCH_COMPILED_CODE
     *   inspect    "1": the model is only inspected, even if the engine would refuse to run
     *              it.  Nothing of it runs, and plan_make() fails
     *   input_type, input_layout, output_layout
     *              the type and layout of the model's own tensors: "uint8", "nhwc"; by default
     *              found out by running it.  Pictures cross this interface as [batch, channels,
     *              height, width] in any case
     *   frames     "-2..2": the channels of the pictures are those of five frames, one after the
     *              other, of which the third is the current one; a layout may have a dimension t
     *              for them.  One frame by default
     *   length     "15": the pictures of a batch are a segment, at most 15 frames that the model
     *              takes and returns together.  If it takes no shorter ones, they are filled up at
     *              the end, backwards from the last frame, or with "15 repeat" by the last frame,
     *              and what comes back for that is dropped.  Such batches are never divided
     *   inputs     extra inputs: "noise=0.1|sigma=25".  For "mask=picture=1" the pictures
     *              have one channel more, which becomes the argument `mask`; several follow
     *              in the order of the list.  With "r1=state=2" the argument `r1` gets what the
     *              output 2 was in the session's last run; "/FIRST" says what it gets in the
     *              first run (docs/contract.md).  Such a plan's runs are made in order.  With
     *              "t=time" or "t=number" each picture has a number of its own, which the
     *              caller gives with the run, and which is 0 in trials
     *   results    what comes back.  "picture", the default: one picture for each input, of at
     *              most 4 channels.  "maps": the same with up to 65536 channels, one for each
     *              class, always as floats.  A plane of whole numbers, [batch, height, width] or
     *              [batch, 1, height, width], is one channel that holds these numbers: `white`
     *              does not apply.  Of several tensors the one named "out" counts.  "tensors":
     *              all tensors that the model returns, in order, as floats or as 64-bit whole
     *              numbers (DNN_TORCH_F32, DNN_TORCH_I64), without gaps, of any rank; an extent
     *              may be 0.  Then `out_count` is the most that the caller takes.  Absent tensors
     *              come last and have the type 0.  `output` keeps the tensor of that name and
     *              those below it.  A model that takes a list of pictures, [channels, height,
     *              width] each, gets the pictures of a batch as that list
     *   weights    "node": each node of the machine's memory gets a copy of the weights, where
     *              the engine can do that.  "shared", the default: there is one
     *   export     "torchscript" or "safetensors": the file of weights is written to the source's
     *              sink in that format.  plan_make() then fails
     *
     * Only the engine "isolated", which runs any other engine in a process of its own,
     * takes these:
     *
     *   engine     the name of that engine: "torch"
     *   cage       "require": fails if the system does not grant every layer of the sandbox
     *   timeout    seconds for one run: a call that takes far longer ends the process
     *   restarts   how often a process that has ended is restarted; 0, the default: never
     */
    int (*model_open)(const DnnTorchSource *source, const DnnTorchOption *options,
                      size_t option_count, DnnTorchModel **model, DnnTorchMessage *message);

    /** Frees *model, which may be NULL, and sets it to NULL. */
    void (*model_close)(DnnTorchModel **model);

    /**
     * Fills in at most `capacity` of the model's inputs or outputs, in order, and
     * returns how many there are; 0 also if the engine does not know.
     */
    size_t (*model_tensors)(const DnnTorchModel *model, DnnTorchDirection direction,
                            DnnTorchTensorInfo *infos, size_t capacity);

    /**
     * Returns the model's metadata under that key, or NULL.  The text lives as long as the
     * model.  Keys that the host asks for:
     *
     *   format           the kind of file, with its version if it has one
     *   origin           the model's name in its source code
     *   parameters       the number of parameters
     *   parameter_bytes  the memory that they take
     *   precision        their type: "fp32"; if there are several, the commonest first
     *   architecture     of a file of weights: the architecture that they are for
     *   architecture_scale, architecture_parameters
     *                    its scale factor, and what else the weights show, one name and
     *                    value a line: "blocks 23"
     *   file_contract    the contract that the file holds (docs/contract.md), as JSON
     *   ultralytics      what Ultralytics' exporter wrote into the file, as JSON
     *   architecture_contract
     *                    of a file of weights: the known contract of its architecture, as
     *                    JSON
     *   graph_contract   of an ONNX file: what the graph tells about its input, as JSON.  A
     *                    longer one of these four continues under the key with ":1", ":2" and
     *                    so on
     *   refused          the operators for which model_open() refuses the model, one a line
     *   input_type, output_type
     *                    the type of the model's own tensors: "uint8".  NULL until a run showed it
     *   nonlocal_operator
     *                    why a sample of the result may depend on the whole picture although no
     *                    trial shows it: an operator's name, or a phrase; NULL if there is no sign
     *   kernel_reach     "30 30 1 1": how far the code's kernels reach across and down, and by
     *                    multiples of what the picture may move; NULL if the code does not tell
     *   small_samples    "20480": pictures of at most that many samples may be rounded otherwise
     *                    than larger ones; NULL: the size does not matter
     *   precision_values, optimize_values
     *                    the values of the option of that name, separated by ", "; or NULL, ""
     *   ignores_input, ignores_output
     *                    "1" if the option of that name is of no use to the model
     *   exclusive        "1" if runs of its sessions wait for each other: better opened again
     *   engine_name, engine_version, cage
     *                    of the engine "isolated" only: the engine in the separate process,
     *                    and how that process is sandboxed, as one line
     *   notice           a message of the engine that the user should see, as one line; may
     *                    change with a plan or a run
     */
    const char *(*model_metadata)(const DnnTorchModel *model, const char *key);

    /**
     * Finds the outputs for inputs of the shapes `in`: takes what an earlier call on this
     * machine found, or runs the model once on grey pictures.  Fills in type, rank and
     * dims of `out`.  Does not affect later results.
     */
    int (*model_probe)(DnnTorchModel *model, const DnnTorchTensor *in, size_t in_count,
                       DnnTorchTensor *out, size_t out_count, DnnTorchMessage *message);

    /**
     * Decides how tensors of the shapes `in` are run: takes what an earlier call on
     * this machine found, or measures.  The plan never changes.  The caller owns *plan and
     * gives it to plan_close().
     */
    int (*plan_make)(DnnTorchModel *model, const DnnTorchTensor *in, size_t in_count,
                     const DnnTorchPlanParameters *parameters, DnnTorchPlan **plan,
                     DnnTorchMessage *message);

    /** Frees *plan, which may be NULL, and sets it to NULL. */
    void (*plan_close)(DnnTorchPlan **plan);

    void (*plan_facts)(const DnnTorchPlan *plan, DnnTorchPlanFacts *facts);

    /**
     * Returns the plan's metadata under that key, or NULL.  The text lives as long as the
     * plan.  Keys that the host asks for:
     *
     *   variant  how the model is run, for people: "fp32, frozen (measured)"
     *   variant_precision, variant_optimize
     *            the values of these options that ask for it: "fp32", "frozen"
     *   variant_details  what was found out about it: "18 of 18 layers"; NULL or "": nothing
     *   threaded_variant, threaded_optimize
     *            the same of sessions with several threads; NULL or "" if it does not
     *            depend on that
     *   hint     what other options would gain: "precision=bf16 ..."
     */
    const char *(*plan_metadata)(const DnnTorchPlan *plan, const char *key);

    /**
     * Opens a session that runs the plan on the calling thread, with that many threads
     * for one run; at least 1.  A model that keeps state between runs keeps it in its
     * session.  The caller owns *session and gives it to session_close().
     */
    int (*session_open)(const DnnTorchPlan *plan, int32_t threads, DnnTorchSession **session,
                        DnnTorchMessage *message);

    /**
     * Runs the model once on some tensors of the plan's shapes, so that the next run
     * takes no longer than those after it.  Does nothing if that could change later
     * results, and may do nothing if a run takes long.  Reports no failure, because the next
     * run will.
     */
    void (*session_warm)(DnnTorchSession *session);

    /**
     * Runs the model once.  The tensors `in` stay the caller's and are only read.  They have no
     * gaps.  One of them has no name and holds the pictures, whose channels are planar or
     * interleaved.  Its extents may differ from the plan's shapes; then the run may be slower.
     * Each of the others, of float32 or int64, replaces for this run the value of the extra input
     * of its name, which the option `inputs` has to list.  Of rank 0 it is a number, which the
     * model gets in the form of that value.  So does one of rank 1 where each picture has a number
     * of its own; for a segment there is one.  Otherwise the model gets the tensor itself.
     * The tensors `out` become views of the session's memory, valid until its next run, its
     * reset or its end.  On entry, `type` and `white` of an output are what the caller
     * requests (0: floats), with channels arranged as in the input; an engine may return
     * floats all the same.  The engine has checked that no extent is below 1, unless
     * `results` is "tensors".
     *
     * If `retries` of `run` is not 0, `message` says how the process had ended, even if
     * the run succeeded.
     */
    int (*session_run)(DnnTorchSession *session, const DnnTorchTensor *in, size_t in_count,
                       DnnTorchTensor *out, size_t out_count, DnnTorchRun *run,
                       DnnTorchMessage *message);

    /** Clears the session's state from earlier runs, as after a cut or a seek. */
    int (*session_reset)(DnnTorchSession *session, DnnTorchMessage *message);

    /**
     * Returns memory of that many bytes from which the session takes its input fastest,
     * valid until the next call or the session's end.  NULL: any other is as good.
     */
    void *(*session_memory)(DnnTorchSession *session, size_t bytes);

    /**
     * Asks a run that may be under way on another thread to end soon with
     * DNN_TORCH_STOPPED; later runs end so at once.  An engine that cannot stop may
     * ignore it.
     */
    void (*session_stop)(DnnTorchSession *session);

    /** Frees *session, which may be NULL, and sets it to NULL. */
    void (*session_close)(DnnTorchSession **session);

    /**
     * Fills in at most `capacity` devices and returns how many there are.  A kind
     * that the library was built without, or that has no device, is one entry
     * ("cuda") that is not usable.  Wakes drivers, which may take seconds, hang or
     * crash: do not call it in a process that must survive.
     */
    size_t (*list_devices)(DnnTorchDevice *devices, size_t capacity);
} DnnTorchEngine;

/**
 * Returns the engine's table, which lives as long as the shared object, or NULL if
 * it cannot serve a host that was built for `host_abi`.
 */
typedef const DnnTorchEngine *DnnTorchEngineFunction(uint32_t host_abi);

#ifdef __cplusplus
}
#endif

#endif
