/* SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/**
 * The seam between the filters and whatever runs a model.
 *
 * An engine is a shared object named `engine-NAME.so` that exports one
 * function, dnn_torch_engine().  Views of images go in and out; no AVFrame, no
 * tensor type and no C++ crosses here.  No function of an engine may throw.
 *
 * Threads: a DnnTorchModel may be used from several threads at once; a
 * DnnTorchSession belongs to one thread at a time, except for session_stop().
 */
#ifndef DNN_TORCH_ENGINE_H
#define DNN_TORCH_ENGINE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Raised with every change of a layout or a meaning below. */
#define DNN_TORCH_ENGINE_ABI 5u

/** The name of the one symbol that an engine exports. */
#define DNN_TORCH_ENGINE_SYMBOL "dnn_torch_engine"

typedef enum DnnTorchStatus {
    DNN_TORCH_OK = 0,
    DNN_TORCH_BAD_OPTION = 1, /**< an option of the caller makes no sense here */
    DNN_TORCH_NO_FILE = 2,    /**< the model's path cannot be read */
    DNN_TORCH_BAD_MODEL = 3,  /**< the file is no model that this engine runs */
    DNN_TORCH_NO_DEVICE = 4,  /**< the device is unknown, absent or unusable */
    DNN_TORCH_BAD_INPUT = 5,  /**< the caller's images do not fit the model */
    DNN_TORCH_BAD_OUTPUT = 6, /**< the model returned what no image can be made of */
    DNN_TORCH_RUN_FAILED = 7, /**< the model itself failed while it ran */
    DNN_TORCH_OUT_OF_MEMORY = 8,
    DNN_TORCH_STOPPED = 9,  /**< session_stop() ended the run */
    DNN_TORCH_INTERNAL = 10 /**< a fault of the engine */
} DnnTorchStatus;

/** Where a function that fails says why: one line, no full stop, no line end. */
typedef struct DnnTorchMessage {
    char text[1024];
} DnnTorchMessage;

typedef enum DnnTorchElement {
    DNN_TORCH_U8 = 1,
    DNN_TORCH_U16 = 2,
    DNN_TORCH_F32 = 3 /**< 1.0 is white */
} DnnTorchElement;

/**
 * A view of a batch of images in somebody else's memory.
 * Element (n, c, y, x) lies at data + n*batch_stride + c*channel_stride +
 * y*row_stride + x*column_stride; all strides are in bytes.
 */
typedef struct DnnTorchImages {
    void *data;
    int32_t element; /**< a DnnTorchElement */
    int32_t batch, channels, height, width;
    int64_t batch_stride, channel_stride, row_stride, column_stride;
    int32_t white;   /**< the code of 1.0, of DNN_TORCH_U8 and DNN_TORCH_U16 */
    int32_t had_nan; /**< of an output in codes: 1: a sample was NaN and is 0 here */
    int64_t number;  /**< of an input: the place of its first picture in the stream, from 0 on */
} DnnTorchImages;

/** What a batch of pictures measures, without its samples. */
typedef struct DnnTorchShape {
    int32_t batch, channels, height, width;
} DnnTorchShape;

typedef struct DnnTorchModelOptions {
    const char *path;
    const char *device;      /**< "cpu" and the like; NULL or "" is "cpu" */
    const char *input_name;  /**< NULL: the model's only image input */
    const char *output_name; /**< NULL: the only tensor, or the first of a tuple or list */
    /**
     * "fp32", "bf16" or "fp16": what the model computes with.  "auto", NULL and
     * "" are as saved on the CPU, and fp16 on a GPU if the model allows it.
     */
    const char *precision;
    /**
     * "0": run the model just as it was saved.  "1", NULL and "": run the fastest
     * form of it that the engine knows.  The name of a form: run that one; a name
     * that the engine does not know fails with a message that lists them.
     */
    const char *optimize;
    /** What the model may use though the engine would refuse it, as the option `allow` has it. */
    const char *allow;
} DnnTorchModelOptions;

/** What model_tune() found out. */
typedef struct DnnTorchTuning {
    double run_seconds;  /**< one run of that shape on one thread, or on the device; 0: not known */
    int64_t run_bytes;   /**< what a run holds at most, beside the model; 0: not known */
    int32_t interleaved; /**< 1: input is taken best with its channels side by side */
    int32_t takes_codes; /**< 1: input and output go best in a frame's own codes, not as floats */
    /** 1: a result depends on earlier runs, so that one session makes all, in the order of frames. */
    int32_t in_order;
} DnnTorchTuning;

/** Something that a model takes, returns or does, by its name. */
typedef struct DnnTorchValue {
    char name[64];
    char type[128]; /**< in the words of the model's own format */
} DnnTorchValue;

/** What a model's file holds.  Zeros and "" stand for what is not known. */
typedef struct DnnTorchDescription {
    char format[64];     /**< what kind of file it is, with its version if it has one */
    char origin[128];    /**< what the model is called where it was made */
    int32_t input_count; /**< may exceed what `inputs` holds, and so with the others */
    int32_t output_count;
    int32_t refused_count;
    int32_t parameters_known;  /**< 1: the next two are, though they may be 0 */
    int64_t parameters;        /**< the numbers that were learnt */
    int64_t parameter_bytes;   /**< the memory that they take */
    char precision[64];        /**< what they are kept in: "fp32", or the commonest first */
    DnnTorchValue inputs[16];  /**< in order, named as DnnTorchModelOptions.input_name takes it */
    DnnTorchValue outputs[16]; /**< the same of output_name */
    DnnTorchValue refused[16]; /**< what in it model_open() refuses the model for; no types */
} DnnTorchDescription;

typedef struct DnnTorchModel DnnTorchModel;
typedef struct DnnTorchSession DnnTorchSession;

/** A device as the library that runs the models sees it. */
typedef struct DnnTorchDevice {
    char name[32];         /**< as DnnTorchModelOptions.device takes it: "cuda:0" */
    char description[160]; /**< "NVIDIA H200" */
    int64_t memory;        /**< bytes; 0: not known */
    int32_t usable;        /**< 1: models can run on it */
    char reason[256];      /**< otherwise why not */
} DnnTorchDevice;

/**
 * What an engine offers.  Every function but the closing ones returns a
 * DnnTorchStatus; on failure it has filled `message`, which is never NULL, and
 * left what it was to return NULL or untouched.
 */
typedef struct DnnTorchEngine {
    uint32_t abi;        /**< DNN_TORCH_ENGINE_ABI of the engine's build */
    const char *name;    /**< "LibTorch" */
    const char *version; /**< of the library that runs the models */

    /** Loads a model.  The caller owns *model and gives it to model_close(). */
    int (*model_open)(const DnnTorchModelOptions *options, DnnTorchModel **model,
                      DnnTorchMessage *message);

    /**
     * Tells what a model's file holds, without running it; also of a file that
     * model_open() refuses for what the model does.  `description` comes as zeros.
     * An engine that can tell nothing leaves them; it fails where model_open()
     * would because the file is missing or no model.
     */
    int (*model_describe)(const char *path, DnnTorchDescription *description,
                          DnnTorchMessage *message);

    /** Frees *model, which may be NULL, and sets it to NULL.  Its sessions are closed already. */
    void (*model_close)(DnnTorchModel **model);

    /**
     * Tells what pictures of `shape` become: takes what an earlier call on this
     * machine found, or runs the model once on grey ones.  Leaves no trace in later
     * results: what the model remembers of pictures stays as it was.
     */
    int (*model_probe)(DnnTorchModel *model, const DnnTorchShape *shape, DnnTorchShape *result,
                       DnnTorchMessage *message);

    /**
     * Settles how pictures of `shape` are run from now on: takes what an earlier
     * call on this machine found, or measures for about `budget_seconds` (0: does
     * not measure).  Never at the same time as a run.  Without this call runs give
     * the same pictures but for rounding, maybe slower.
     */
    int (*model_tune)(DnnTorchModel *model, const DnnTorchShape *shape, double budget_seconds,
                      DnnTorchTuning *tuning, DnnTorchMessage *message);

    /**
     * What the engine noticed and the user should know; "" for nothing.  May change
     * with a run; the text holds as long as the model.
     */
    const char *(*model_notice)(const DnnTorchModel *model);

    /** How the model is run ("fp32, frozen"); holds until the next call of model_tune(). */
    const char *(*model_form)(const DnnTorchModel *model);

    /** What other options would gain ("precision=bf16 ..."), or "".  Holds as long. */
    const char *(*model_advice)(const DnnTorchModel *model);

    /**
     * Makes a place to run the model in, on the calling thread, with that many
     * threads for one run; at least 1.
     * The caller owns *session and gives it to session_close().
     */
    int (*session_open)(DnnTorchModel *model, int32_t threads, DnnTorchSession **session,
                        DnnTorchMessage *message);

    /**
     * Runs the model once on some picture, so that the next run takes no longer
     * than those after it.  Does nothing where that could change later results;
     * tells of no failure, for the next run will.
     */
    void (*session_warm)(DnnTorchSession *session, const DnnTorchShape *shape);

    /**
     * Runs the model once.  `input` stays the caller's and is only read; its
     * channels lie one after the other or side by side, without gaps.
     * `output` is filled with a view whose memory is the session's and holds
     * until its next run or its end.  Its `element` and `white` say on entry what
     * the caller would like (0: floats), with channels as they lie in `input`; an
     * engine may give floats all the same.  The engine has checked that the batch is
     * that of the input and that no extent is below 1.
     */
    int (*session_run)(DnnTorchSession *session, const DnnTorchImages *input,
                       DnnTorchImages *output, DnnTorchMessage *message);

    /**
     * Memory of that many bytes from which the session takes its input fastest; it
     * holds until the next call or the session's end.  NULL: any other is as good.
     */
    void *(*session_memory)(DnnTorchSession *session, int64_t bytes);

    /**
     * Asks a run that may be under way on another thread to end soon with
     * DNN_TORCH_STOPPED; later runs end so at once.  May be without effect on
     * an engine that cannot stop.
     */
    void (*session_stop)(DnnTorchSession *session);

    /** Frees *session, which may be NULL, and sets it to NULL. */
    void (*session_close)(DnnTorchSession **session);

    /**
     * Fills in at most `capacity` devices and returns how many there are.  A kind
     * that the library was built without, or that no device of is there, is one
     * entry ("cuda") that is not usable, with the reason; "built without" in it says
     * that no driver could help.  Wakes drivers, which may take seconds, hang or
     * crash: not for a process that must live on.
     */
    int32_t (*list_devices)(DnnTorchDevice *devices, int32_t capacity);
} DnnTorchEngine;

/**
 * The engine's table, which lives as long as the shared object, or NULL where
 * it cannot serve a host that was built for `host_abi`.
 */
typedef const DnnTorchEngine *DnnTorchEngineFunction(uint32_t host_abi);

#ifdef __cplusplus
}
#endif

#endif
