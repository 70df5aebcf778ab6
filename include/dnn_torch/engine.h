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
#define DNN_TORCH_ENGINE_ABI 1u

/** The name of the one symbol that an engine exports. */
#define DNN_TORCH_ENGINE_SYMBOL "dnn_torch_engine"

typedef enum DnnTorchStatus {
    DNN_TORCH_OK = 0,
    DNN_TORCH_BAD_OPTION = 1,    /**< an option of the caller makes no sense here */
    DNN_TORCH_NO_FILE = 2,       /**< the model's path cannot be read */
    DNN_TORCH_BAD_MODEL = 3,     /**< the file is no model that this engine runs */
    DNN_TORCH_NO_DEVICE = 4,     /**< the device is unknown, absent or unusable */
    DNN_TORCH_BAD_INPUT = 5,     /**< the caller's images do not fit the model */
    DNN_TORCH_BAD_OUTPUT = 6,    /**< the model returned what no image can be made of */
    DNN_TORCH_RUN_FAILED = 7,    /**< the model itself failed while it ran */
    DNN_TORCH_OUT_OF_MEMORY = 8,
    DNN_TORCH_STOPPED = 9,       /**< session_stop() ended the run */
    DNN_TORCH_INTERNAL = 10      /**< a fault of the engine */
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
} DnnTorchImages;

typedef struct DnnTorchModelOptions {
    const char *path;
    const char *device;      /**< "cpu" and the like; NULL or "" is "cpu" */
    const char *input_name;  /**< NULL: the model's only image input */
    const char *output_name; /**< NULL: the only tensor, or the first of a tuple or list */
    int32_t threads;         /**< for one run of one session; at least 1 */
    int32_t optimize;        /**< 0: run the model just as it was saved */
} DnnTorchModelOptions;

typedef struct DnnTorchModel DnnTorchModel;
typedef struct DnnTorchSession DnnTorchSession;

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

    /** Frees *model, which may be NULL, and sets it to NULL.  Its sessions are closed already. */
    void (*model_close)(DnnTorchModel **model);

    /**
     * What the engine noticed and the user should know; "" for nothing.  May change
     * with a run; the text holds as long as the model.
     */
    const char *(*model_notice)(const DnnTorchModel *model);

    /**
     * Makes a place to run the model in, on the calling thread.
     * The caller owns *session and gives it to session_close().
     */
    int (*session_open)(DnnTorchModel *model, DnnTorchSession **session, DnnTorchMessage *message);

    /**
     * Runs the model once.  `input` stays the caller's and is only read.
     * `output` is filled with a view whose memory is the session's and holds
     * until its next run or its end.  The engine has checked that the batch is
     * that of the input and that no extent is below 1.
     */
    int (*session_run)(DnnTorchSession *session, const DnnTorchImages *input,
                       DnnTorchImages *output, DnnTorchMessage *message);

    /**
     * Asks a run that may be under way on another thread to end soon with
     * DNN_TORCH_STOPPED; later runs end so at once.  May be without effect on
     * an engine that cannot stop.
     */
    void (*session_stop)(DnnTorchSession *session);

    /** Frees *session, which may be NULL, and sets it to NULL. */
    void (*session_close)(DnnTorchSession **session);
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
